// Registered webhooks, and the writes they are tested with: one row per rule about calls.

import {
  create,
  type HookCase,
  IF_NEEDED,
  IGNORE,
  MAPS,
  map,
  mergePatch,
  mutating,
  named,
  POD_SUBRESOURCE_WRITES,
  rule,
  validating,
} from './builders.ts';
import { ORDER_CASES } from './orderCases.ts';

const BROKEN = { matchConditions: [{ name: 'broken', expression: 'object.data.missing == "x"' }] };
const SETS = '/apis/apps/v1/namespaces/NS/replicasets';
const SET_SPEC = {
  selector: { matchLabels: { app: 'r' } },
  template: { metadata: { labels: { app: 'r' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
};

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
    otherMessages: true,
  },
  { name: 'a patch without a type', hooks: [mutating('/untyped-patch')], writes: [create('a')] },
  { name: 'a validating webhook may not patch', hooks: [validating('/label-one')], writes: [create('a')] },
  { name: 'a response with another uid', hooks: [validating('/wrong-uid')], writes: [create('a')] },
  { name: 'no response', hooks: [validating('/broken')], writes: [create('a')] },
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
      mergePatch(`${MAPS}/a`, { data: { k: 'v' } }),
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
  { name: 'denied with a reason alone', hooks: [validating('/deny-reason')], writes: [create('a')] },
  { name: 'a type of patch without a patch', hooks: [mutating('/patch-type')], writes: [create('a')] },
  {
    name: 'a validating webhook may not name a type of patch',
    hooks: [validating('/patch-type')],
    writes: [create('a')],
  },
  {
    name: 'a patch that cannot be read',
    hooks: [mutating('/unreadable-patch')],
    writes: [create('a')],
    otherMessages: true,
  },
  {
    name: 'a patch that cannot be read may be ignored',
    hooks: [mutating('/unreadable-patch', IGNORE)],
    writes: [create('a')],
  },
  {
    name: 'a patch that cannot be applied may not be ignored',
    hooks: [mutating('/bad-patch', IGNORE)],
    writes: [create('a')],
    otherMessages: true,
  },
  {
    name: 'a webhook cannot patch a deleted object',
    hooks: [{ phase: 'Mutating', path: '/label-one', rules: [rule(['DELETE'], ['configmaps'])] }],
    writes: [create('a'), { method: 'DELETE', path: `${MAPS}/a` }],
  },
  {
    name: 'not reinvoked when nothing changed',
    hooks: [mutating('/label-one', IF_NEEDED), mutating('/idle-patch')],
    writes: [create('a')],
  },
  {
    name: 'not reinvoked when not called before',
    hooks: [
      mutating('/label-one', { ...IF_NEEDED, objectSelector: { matchLabels: { two: 'yes' } } }),
      mutating('/label-two'),
    ],
    writes: [create('a')],
  },
  {
    name: 'a condition that cannot be evaluated forbids',
    hooks: [validating('/allow', BROKEN)],
    writes: [create('a')],
  },
  {
    name: 'a condition that cannot be evaluated may be ignored',
    hooks: [validating('/deny', { ...BROKEN, ...IGNORE })],
    writes: [create('a')],
  },
  {
    name: 'an object stays in its namespace',
    hooks: [mutating('/other-namespace')],
    writes: [create('a')],
  },
  { name: 'any status of success will do', hooks: [validating('/allow-created')], writes: [create('a')] },
  {
    name: 'a webhook that never answers',
    hooks: [validating('/silent', { timeoutSeconds: 1 })],
    writes: [create('a')],
  },
  {
    name: 'webhooks are told the options of the request',
    hooks: [
      validating('/deny', {
        matchConditions: [
          {
            name: 'mine',
            expression: 'has(request.options.fieldManager) && request.options.fieldManager == "me"',
          },
        ],
      }),
    ],
    writes: [create('a', {}, '?fieldManager=me'), create('a', {}, '?fieldManager=you')],
  },
  {
    name: 'bindings and evictions are seen as such',
    hooks: [{ phase: 'Validating', path: '/allow', rules: [rule(['*'], ['pods/binding', 'pods/eviction'])] }],
    writes: POD_SUBRESOURCE_WRITES,
  },
  {
    name: 'scales are seen as such',
    hooks: [
      {
        phase: 'Validating',
        path: '/deny',
        rules: [rule(['*'], ['replicasets/scale'], { apiGroups: ['apps'] })],
      },
    ],
    writes: [
      { method: 'POST', path: SETS, body: { ...named('apps/v1', 'ReplicaSet', 'r'), spec: SET_SPEC } },
      mergePatch(`${SETS}/r/scale`, { spec: { replicas: 2 } }),
    ],
  },
  ...ORDER_CASES,
];
