// Small sequences, each about one rule, that random sequences once found. Only the last answer is compared. `{ns}` is a
// namespace of the case, `{version}` the newest version that the server returned.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { DEFINITION_CASES } from './crds.ts';
import { WRITE_CASES } from './writeCases.ts';

export interface Step {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: Json;
  /** A user other than the administrator. */
  readonly as?: string;
}

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

const JSON_PATCH = 'application/json-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

const post = (path: string, body: Json): Step => ({ method: 'POST', path, body });
const patch = (type: string, path: string, body: Json): Step => ({ method: 'PATCH', path, type, body });
const get = (path: string): Step => ({ method: 'GET', path });

const core = (plural: string, more = '') => `/api/v1/namespaces/{ns}/${plural}${more}`;
const THINGS = '/apis/things.example.com/v1/namespaces/{ns}/things';
const EMPTIES = '/apis/things.example.com/v1/namespaces/{ns}/empties';
const thing = (spec: Json, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'things.example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
  ...more,
});
const empty = { apiVersion: 'things.example.com/v1', kind: 'Empty', metadata: { name: 'a' }, spec: {} };
const map = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const pod = (spec: JsonObject, metadata: JsonObject = { name: 'a' }): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
});
const job = (template: JsonObject): JsonObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'a' },
  spec: {
    suspend: true,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }], ...template } },
  },
});
const JOBS = '/apis/batch/v1/namespaces/{ns}/jobs';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';
const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: '{ns}' },
  provisioner: 'p',
};
const VOLUMES = '/api/v1/persistentvolumes';
const volume = (claimRef: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: '{ns}' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/x' },
    claimRef,
  },
});
const scale = (replicas: number): JsonObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'a', namespace: '{ns}' },
  spec: { replicas },
});

const EVENTS = '/apis/events.k8s.io/v1/namespaces/{ns}/events';
const event = (metadata: JsonObject): JsonObject => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata,
  eventTime: '2024-01-01T00:00:00.000000Z',
  action: 'Testing',
  reason: 'Testing',
  type: 'Normal',
  reportingController: 'example.com/test',
  reportingInstance: 'test-1',
  regarding: { kind: 'Pod', namespace: '{ns}', name: 'a' },
});

export const CASES: readonly Case[] = [
  {
    name: 'an applier is told of other managers in the order of what they are known by',
    steps: [
      post(THINGS, thing({ replicas: 1, note: 'n' })),
      { method: 'PUT', path: `${THINGS}/a/scale`, body: scale(2) },
      patch(APPLY, `${THINGS}/a?fieldManager=applier`, thing({ replicas: 3, note: 'm' })),
    ],
  },
  {
    name: 'a taken name beside one to be generated is told of the kind as it is inside',
    steps: [post(EVENTS, event({ name: 'a' })), post(EVENTS, event({ name: 'a', generateName: 'gen-' }))],
  },
  {
    name: 'and that its holder is on its way out',
    steps: [
      post(core('configmaps'), { ...map('a'), metadata: { name: 'a', finalizers: ['example.com/x'] } }),
      { method: 'DELETE', path: core('configmaps', '/a') },
      post(core('configmaps'), { ...map('a'), metadata: { name: 'a', generateName: 'gen-' } }),
    ],
  },
  ...['abc', '', '5', '-1s', '0', '1h', '1.5s'].map((timeout) => ({
    name: `a timeout of ${JSON.stringify(timeout)}`,
    steps: [get(core('configmaps', `?fieldSelector=metadata.name%3Dnone&timeout=${timeout}`))],
  })),
  {
    name: 'a timeout that is none is told before anything else',
    steps: [get('/apis/nobody.example.com/v1/nothings?timeout=soon')],
  },
  {
    name: 'metadata of a custom resource is read before its version is looked at',
    steps: [post(THINGS, thing({}, { apiVersion: 'v9', metadata: { name: 'a', labels: 'x' } }))],
  },
  {
    name: 'a refused strategic patch is quoted without the directives that were obeyed',
    steps: [
      post(core('configmaps'), map('a')),
      patch(STRATEGIC, core('configmaps', '/a'), { data: 7, $patch: 'replace' }),
    ],
  },
  {
    name: 'one object by its name has no next page',
    steps: [
      post(core('configmaps'), map('a')),
      post(core('configmaps'), map('b')),
      get(core('configmaps', '?fieldSelector=metadata.name%3Da&limit=1')),
    ],
  },
  {
    name: 'of another kind, lists and embedded resources are still looked at, unknown fields are not',
    steps: [post(THINGS, thing({ tags: ['a', 'a'], odd: 1 }, { kind: 'Odd' }))],
  },
  {
    name: 'of another kind with broken metadata it is refused by the name it gives itself',
    steps: [post(THINGS, thing({}, { kind: 'Odd', metadata: { name: 'a', labels: [] } }))],
  },
  {
    name: 'of several wrong types in metadata the first by name is told',
    steps: [post(THINGS, thing({}, { metadata: { name: 'a', labels: { a: 1 }, annotations: [] } }))],
  },
  { name: 'replicas beyond all integers are a float', steps: [post(THINGS, thing({ replicas: 1e30 }))] },
  {
    name: 'a write through scale that changes nothing splits the managers of the replicas',
    steps: [
      post(THINGS, thing({ replicas: 2, note: 'n' })),
      { method: 'PUT', path: `${THINGS}/a/scale?fieldManager=scaler`, body: scale(2) },
      get(`${THINGS}/a`),
    ],
  },
  {
    name: 'a write through scale takes the replicas from their applier',
    steps: [
      patch(APPLY, `${THINGS}/a?fieldManager=applier`, thing({ replicas: 2, note: 'n' })),
      { method: 'PUT', path: `${THINGS}/a/scale?fieldManager=scaler`, body: scale(3) },
      get(`${THINGS}/a`),
    ],
  },
  {
    name: 'a deletion that names a version and takes the last finalizer conflicts',
    steps: [
      post(core('configmaps'), map('a')),
      { method: 'DELETE', path: core('configmaps', '/a'), body: { propagationPolicy: 'Foreground' } },
      {
        method: 'DELETE',
        path: core('configmaps', '/a'),
        body: { propagationPolicy: 'Background', preconditions: { resourceVersion: '{version}' } },
      },
    ],
  },
  {
    name: 'what a deletion answers still has the finalizer it made obsolete',
    steps: [
      post(CLASSES, storageClass),
      { method: 'DELETE', path: `${CLASSES}/{ns}`, body: { propagationPolicy: 'Orphan' } },
      { method: 'DELETE', path: `${CLASSES}/{ns}`, body: { propagationPolicy: 'Background' } },
    ],
  },
  {
    name: 'a field of a disabled feature gate has a manager and is not stored',
    steps: [post(core('pods'), pod({ schedulingGroup: { podGroupName: 'g' } }))],
  },
  {
    name: 'a field behind a closed gate in a template, too',
    steps: [post(JOBS, job({ schedulingGroup: { podGroupName: 'g' } }))],
  },
  {
    name: 'a pod without a name is Unknown to admission',
    steps: [post(core('pods'), pod({ priorityClassName: 'none' }, {}))],
  },
  {
    name: 'unknown fields of a copy are told in the order of the text',
    steps: [
      post(JOBS, job({})),
      patch(JSON_PATCH, `${JOBS}/a?fieldValidation=Strict`, [
        { op: 'copy', from: '/metadata', path: '/spec' },
      ]),
    ],
  },
  {
    name: 'the first wrong type of a copy is the first in the text',
    steps: [
      post(JOBS, job({})),
      patch(JSON_PATCH, `${JOBS}/a`, [{ op: 'copy', from: '/metadata', path: '/metadata/labels' }]),
    ],
  },
  {
    name: 'unknown fields below a value of another type are told',
    steps: [
      post(THINGS, thing({})),
      patch(JSON_PATCH, `${THINGS}/a`, [
        { op: 'replace', path: '/spec', value: { percent: { k: 1 }, odd: 1, other: 2 } },
      ]),
    ],
  },
  {
    name: 'a test of a text with markup fails unless it is spelled as the server does',
    steps: [
      post(core('configmaps'), { ...map('a'), data: { a: 'x < y' } }),
      patch(JSON_PATCH, core('configmaps', '/a'), [{ op: 'test', path: '/data/a', value: 'x < y' }]),
    ],
  },
  {
    name: 'an applied field that is not kept counts as a change',
    steps: [
      post(EMPTIES, empty),
      patch(APPLY, `${EMPTIES}/a?fieldManager=x`, { ...empty, spec: { odd: 1 } }),
    ],
  },
  {
    name: 'bytes are no list of texts',
    steps: [post(core('secrets'), { ...map('a'), kind: 'Secret', data: { a: ['x'] } })],
  },
  {
    name: 'bytes may be a list of numbers, and null is zero',
    steps: [post(core('secrets'), { ...map('a'), kind: 'Secret', data: { a: [null, 65] } })],
  },
  {
    name: 'an applied claimRef is owned field by field',
    steps: [
      patch(APPLY, `${VOLUMES}/{ns}?fieldManager=one`, volume({ namespace: 'x', name: 'y' })),
      patch(APPLY, `${VOLUMES}/{ns}?fieldManager=two&force=true`, volume({ namespace: 'x', name: 'z' })),
    ],
  },
  ...DEFINITION_CASES,
  ...WRITE_CASES,
];
