// Watch events of an object that is deleted, from its creation on: marks written before the removal are separate
// events, and informers rely on them.

import type { JsonObject } from '@lapse/kube/api/json';
import type { ExpectedEvent, Step, WireCase, WireFile } from '../replay/types.ts';

const PODS = '/api/v1/namespaces/{{ns}}/pods';
const MAPS = '/api/v1/namespaces/{{ns}}/configmaps';

const pod = (spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', ...metadata },
  spec: {
    containers: [{ name: 'c', image: 'i:1' }],
    automountServiceAccountToken: false,
    ...spec,
  },
});
const map = (metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
});

const create = (path: string, body: JsonObject): Step => ({
  do: { method: 'POST', path, body },
  expect: { status: 201 },
  capture: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
});
const patch = (path: string, body: JsonObject): Step => ({
  do: { method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' }, body },
  expect: { status: 200 },
  capture: { version: 'metadata.resourceVersion' },
});
const remove = (path: string, body: JsonObject = {}): Step => ({
  do: { method: 'DELETE', path, body },
  expect: { status: 200 },
});
const finish = patch(`${PODS}/a/status`, { status: { phase: 'Succeeded' } });
const release = patch(`${MAPS}/a`, { metadata: { finalizers: null } });

const ADDED: ExpectedEvent = { type: 'ADDED' };
const MODIFIED: ExpectedEvent = { type: 'MODIFIED' };
const DELETED: ExpectedEvent = { type: 'DELETED' };
const graceOf = (type: string, seconds: number): ExpectedEvent => ({
  type,
  match: { metadata: { deletionGracePeriodSeconds: seconds } },
});

/** All events of a watch that starts before the first step, and none after them. */
function ending(name: string, path: string, steps: Step[], events: ExpectedEvent[]): WireCase {
  const other = { ...(path === PODS ? pod() : map()), metadata: { name: 'z' } };
  return {
    name,
    steps: [
      { do: { method: 'GET', path }, capture: { before: 'metadata.resourceVersion' } },
      ...steps,
      create(path, other),
      {
        do: { watch: `${path}?watch=1&resourceVersion={{before}}`, until: events.length + 1 },
        expect: { status: 200, events: [...events, ADDED] },
      },
    ],
  };
}

export const DELETION_EVENTS: WireFile = {
  topic: 'endings',
  about: 'What a watch shows of the end of an object.',
  cases: [
    ending(
      'A ConfigMap is deleted at once.',
      MAPS,
      [create(MAPS, map()), remove(`${MAPS}/a`)],
      [ADDED, DELETED],
    ),
    ending(
      'A ConfigMap with a finalizer is marked, and deleted when the finalizer is removed.',
      MAPS,
      [create(MAPS, map({ finalizers: ['example.com/x'] })), remove(`${MAPS}/a`), release],
      [ADDED, graceOf('MODIFIED', 0), graceOf('DELETED', 0)],
    ),
    ending(
      'A Pod without a node is marked without a grace period before it is deleted.',
      PODS,
      [create(PODS, pod()), remove(`${PODS}/a`)],
      [ADDED, graceOf('MODIFIED', 0), graceOf('DELETED', 0)],
    ),
    ending(
      'So is a finished Pod, also if the DELETE names its version.',
      PODS,
      [
        create(PODS, pod({ nodeName: 'n' })),
        finish,
        remove(`${PODS}/a`, { preconditions: { uid: '{{uid}}', resourceVersion: '{{version}}' } }),
      ],
      [ADDED, MODIFIED, graceOf('MODIFIED', 0), graceOf('DELETED', 0)],
    ),
    ending(
      'A Pod on a node waits; the end of its grace period is an event before its deletion.',
      PODS,
      [
        create(PODS, pod({ nodeName: 'n' })),
        remove(`${PODS}/a`),
        remove(`${PODS}/a`, { gracePeriodSeconds: 0 }),
      ],
      [ADDED, graceOf('MODIFIED', 30), graceOf('MODIFIED', 0), graceOf('DELETED', 0)],
    ),
    ending(
      'A dry run causes no event.',
      PODS,
      [create(PODS, pod()), remove(`${PODS}/a`, { dryRun: ['All'] }), remove(`${PODS}/a`)],
      [ADDED, graceOf('MODIFIED', 0), DELETED],
    ),
  ],
};
