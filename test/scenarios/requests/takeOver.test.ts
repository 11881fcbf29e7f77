// Requests that another controller began: a progress condition of that controller is not completion, whichever TTL mode
// is used.

import { minutes, parseTime, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import { requestScenario } from './invariants.ts';
import { capture, content, readyOf, restore, usualObjects, volumeWorld } from './kit.ts';

const LONG_AGO = '2020-01-01T00:00:00Z';
const rows = Object.fromEntries(
  ['scanner', 'annotation'].flatMap((mode) =>
    ['Pending', 'Running', 'Processing', 'TargetsPending'].map((reason) => [
      `finishes requests that were marked ${reason}, in mode ${mode}`,
      { mode, reason },
    ]),
  ),
);

requestScenario.each(rows, async ({ given, when, then, simulation }, { mode, reason }) => {
  await volumeWorld(given, {
    families: ['volume-capture', 'volume-restore', 'request-ttl'],
    simulatedControllers: ['csi-snapshotter', 'deckhouse-provisioner'],
    configuration: { requestTTL: { mode } },
    objects: [...usualObjects(), content()],
  });
  (await simulation()).crash();
  const condition = { type: 'Ready', status: 'False', reason, message: 'x', lastTransitionTime: LONG_AGO };
  const begun = (request: KubeObject): KubeObject =>
    ({
      ...request,
      metadata: { ...request.metadata, annotations: { 'storage.deckhouse.io/ttl': '10m' } },
      status: { completionTimestamp: LONG_AGO, conditions: [condition] },
    }) as KubeObject;
  await when.user.apply([begun(capture()), begun(restore())]);
  await when.processRestarts();
  await when.timePasses(seconds(5));
  for (const ref of ['vcr/nightly', 'vrr/back']) {
    expect(await readyOf(then, ref)).toBe('True Completed');
    const { status } = await then.object<RequestObject>(ref);
    expect(parseTime(status!.completionTimestamp!), 'the TTL counts from this end').toBeGreaterThan(
      parseTime(LONG_AGO),
    );
  }
  await when.timePasses(minutes(9));
  for (const ref of ['vcr/nightly', 'vrr/back']) await then.exists(ref);
});
