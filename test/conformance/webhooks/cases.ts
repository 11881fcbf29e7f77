// What webhooks are registered, and what is then written: one row per rule about calling them.

import type { Json, JsonObject } from '#api/json';

export interface HookCase {
  readonly name: string;
  readonly hooks: readonly HookSpec[];
  readonly writes: readonly WriteStep[];
  /** Both refuse, each in its own words. */
  readonly otherWords?: boolean;
}

export interface HookSpec {
  readonly phase: 'Mutating' | 'Validating';
  readonly path: string;
  /** Fields of the webhook that differ from the usual. */
  readonly more?: JsonObject;
  /** Of ConfigMaps, every operation, unless told. */
  readonly rules?: Json;
}

export interface WriteStep {
  readonly method: string;
  readonly path: string;
  readonly body?: JsonObject;
  readonly type?: string;
}

const MAPS = '/api/v1/namespaces/NS/configmaps';
const map = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...more },
});
const create = (name: string, more: JsonObject = {}, query = ''): WriteStep => ({
  method: 'POST',
  path: MAPS + query,
  body: map(name, more),
});
const validating = (path: string, more?: JsonObject): HookSpec => ({
  phase: 'Validating',
  path,
  ...(more === undefined ? {} : { more }),
});
const mutating = (path: string, more?: JsonObject): HookSpec => ({
  phase: 'Mutating',
  path,
  ...(more === undefined ? {} : { more }),
});
const rule = (operations: string[], resources: string[], more: JsonObject = {}): JsonObject => ({
  operations,
  apiGroups: [''],
  apiVersions: ['v1'],
  resources,
  ...more,
});

export const CASES: readonly HookCase[] = [
  {
    name: 'allowed',
    hooks: [validating('/allow')],
    writes: [create('a'), { method: 'DELETE', path: `${MAPS}/a` }],
  },
  { name: 'warnings reach the client', hooks: [validating('/warn')], writes: [create('a')] },
  { name: 'denied without explanation', hooks: [validating('/deny')], writes: [create('a')] },
  { name: 'denied with a code and a reason', hooks: [validating('/deny-why')], writes: [create('a')] },
  { name: 'denied with a code alone', hooks: [validating('/deny-teapot')], writes: [create('a')] },
  {
    name: 'mutations follow each other',
    hooks: [mutating('/label-one'), mutating('/label-two')],
    writes: [create('a'), create('b', { labels: { own: '1' } })],
  },
  {
    name: 'a mutation is validated, and validating webhooks see it',
    hooks: [mutating('/label-one'), validating('/deny', { objectSelector: { matchLabels: { one: 'yes' } } })],
    writes: [create('a')],
  },
  {
    name: 'a patch that cannot be applied',
    hooks: [mutating('/bad-patch')],
    writes: [create('a')],
    otherWords: true,
  },
  { name: 'a patch without a type', hooks: [mutating('/untyped-patch')], writes: [create('a')] },
  { name: 'a validating webhook may not patch', hooks: [validating('/label-one')], writes: [create('a')] },
  { name: 'an answer to another question', hooks: [validating('/wrong-uid')], writes: [create('a')] },
  { name: 'no answer at all', hooks: [validating('/broken')], writes: [create('a')] },
  {
    name: 'failures may be ignored',
    hooks: [
      validating('/broken', { failurePolicy: 'Ignore' }),
      mutating('/garbage', { failurePolicy: 'Ignore' }),
    ],
    writes: [create('a')],
  },
  {
    name: 'only the operations of the rule',
    hooks: [{ phase: 'Validating', path: '/deny', rules: [rule(['DELETE'], ['configmaps'])] }],
    writes: [create('a'), { method: 'DELETE', path: `${MAPS}/a` }, { method: 'DELETE', path: MAPS }],
  },
  {
    name: 'patches and updates are UPDATE',
    hooks: [{ phase: 'Validating', path: '/deny', rules: [rule(['UPDATE'], ['*'])] }],
    writes: [
      create('a'),
      {
        method: 'PATCH',
        path: `${MAPS}/a`,
        body: { data: { k: 'v' } },
        type: 'application/merge-patch+json',
      },
      { method: 'PUT', path: `${MAPS}/a`, body: map('a') },
    ],
  },
  {
    name: 'subresources are named apart',
    hooks: [{ phase: 'Validating', path: '/deny', rules: [rule(['*'], ['configmaps/status'])] }],
    writes: [create('a')],
  },
  {
    name: 'the scope of the rule',
    hooks: [{ phase: 'Validating', path: '/deny', rules: [rule(['*'], ['*'], { scope: 'Cluster' })] }],
    writes: [create('a')],
  },
  {
    name: 'objects are selected before or after the change',
    hooks: [
      validating('/deny', { objectSelector: { matchExpressions: [{ key: 'guard', operator: 'Exists' }] } }),
    ],
    writes: [create('a'), create('b', { labels: { guard: '' } })],
  },
  {
    name: 'namespaces are selected',
    hooks: [validating('/deny', { namespaceSelector: { matchLabels: { other: 'yes' } } })],
    writes: [create('a')],
  },
  {
    name: 'conditions',
    hooks: [
      validating('/deny', {
        matchConditions: [{ name: 'not-b', expression: 'object.metadata.name != "b"' }],
      }),
    ],
    writes: [create('a'), create('b')],
  },
  {
    name: 'one false condition is enough',
    hooks: [
      validating('/deny', {
        matchConditions: [
          { name: 'fails', expression: 'object.metadata.labels.missing == "x"' },
          { name: 'no', expression: 'request.operation == "DELETE"' },
        ],
      }),
    ],
    writes: [create('a')],
  },
  {
    name: 'dry runs ask only webhooks without side effects',
    hooks: [validating('/allow', { sideEffects: 'None' })],
    writes: [create('a', {}, '?dryRun=All')],
  },
  {
    name: 'reinvoked when others changed the object',
    hooks: [mutating('/label-one', { reinvocationPolicy: 'IfNeeded' }), mutating('/label-two')],
    writes: [create('a')],
  },
];
