// Every kind with a strategy accepts, changes and rejects objects like kube-apiserver, with the same messages.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Embedded, startEmbedded } from '../../../../test/conformance/embeddedTarget.ts';
import { families, loadFamily, play, softened } from './recorded.testkit.ts';

let target: Embedded;
beforeAll(async () => {
  target = await startEmbedded();
});
afterAll(() => target?.close());

/** Errors that quote an internal struct of Kubernetes, whose field names differ from the API. */
const QUOTES_INTERNALS = new Set([
  'Deployment: odd strategy',
  'StatefulSet: strategy on delete',
  'StatefulSet: strategy odd',
  'DaemonSet: odd',
  'Job: success policy not indexed',
  'Job: what may change',
  'Job: suspended template',
  'Job: running template',
  'Job/status: completes',
  'Job: PUT back what was read',
  'PodDisruptionBudget: both',
  'Pod: security',
  'Pod: no escalation',
  'Pod: changes',
  'Pod: gated',
  'Pod/status: status',
  'Pod: ephemeral containers',
  'Pod: resize',
  'PersistentVolume: changes',
  'CSINode: changes',
  'VolumeAttachment: changes',
  'ServiceCIDR: nothing',
  'IPAddress: defaults',
  'FlowSchema: nothing',
  'FlowSchema: changes',
  'PriorityLevelConfiguration: changes',
  'RuntimeClass: bad',
]);

let count = 0;

describe.each(families())('%s', (family) => {
  test.each(loadFamily(family).map((probe) => [probe.name, probe] as const))('%s', async (name, probe) => {
    const client = { send: target.request, token: target.adminToken! };
    const got = await play(client, probe, `recorded-${++count}`);
    if (QUOTES_INTERNALS.has(name)) expect(softened(got)).toEqual(softened(probe.steps));
    else expect(got).toEqual(probe.steps);
  });
});

test('the server reported no unexpected errors', () => {
  expect(target.unexpected).toEqual([]);
});
