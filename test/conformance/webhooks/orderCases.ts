// When webhooks are called, how often, with which version and for how long.

import type { JsonObject } from '@lapse/kube/api/json';
import {
  create,
  type HookCase,
  IF_NEEDED,
  MAPS,
  map,
  mutating,
  named,
  PODS,
  rule,
  validating,
  type WriteStep,
} from './builders.ts';

const MERGE = 'application/merge-patch+json';
const remove = (path: string, body?: JsonObject): WriteStep => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
});
const SPACES = '/api/v1/namespaces';
const EVENTS = '/api/v1/namespaces/NS/events';
const pod: WriteStep = {
  method: 'POST',
  path: PODS,
  body: {
    ...named('v1', 'Pod', 'p'),
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  },
};
const OWN = { labels: { own: '1' } };
const deletions = (resources: string[]) => [rule(['DELETE'], resources)];
const manyKeys = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`k${i}`, 'v']));
const costly = (name: string) => ({
  name,
  expression: `object.data.all(a, object.data.all(b, object.data.all(c, a != "${name}")))`,
});

export const ORDER_CASES: readonly HookCase[] = [
  {
    name: 'a namespace is in itself',
    hooks: [
      {
        phase: 'Validating',
        path: '/allow',
        rules: [rule(['*'], ['namespaces', 'namespaces/*'])],
        more: { namespaceSelector: {}, objectSelector: { matchLabels: { about: 'NS' } } },
      },
    ],
    writes: [
      {
        method: 'POST',
        path: SPACES,
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'NS-in', labels: { about: 'NS' } } },
      },
      { method: 'PATCH', path: `${SPACES}/NS-in`, body: { metadata: { labels: { a: 'b' } } }, type: MERGE },
      { method: 'PATCH', path: `${SPACES}/NS-in/status`, body: { metadata: {} }, type: MERGE },
      remove(`${SPACES}/NS-in`),
      remove(`${SPACES}/NS-in`),
    ],
  },
  {
    name: 'a rule for the very resource goes before one for another that shows the same',
    hooks: [
      {
        phase: 'Validating',
        path: '/allow',
        rules: [rule(['*'], ['events'], { apiGroups: ['events.k8s.io'] }), rule(['*'], ['events'])],
      },
      {
        phase: 'Validating',
        path: '/warn',
        rules: [rule(['*'], ['events'], { apiGroups: ['events.k8s.io'] })],
      },
    ],
    writes: [
      {
        method: 'POST',
        path: EVENTS,
        body: {
          ...named('v1', 'Event', 'e'),
          involvedObject: { kind: 'Pod', namespace: 'NS', name: 'p' },
        },
      },
    ],
  },
  {
    name: 'a change in the second round calls those that were called since the last one',
    hooks: [mutating('/count', IF_NEEDED), mutating('/label-two'), mutating('/idle-patch', IF_NEEDED)],
    writes: [create('a')],
  },
  {
    name: 'managers that a webhook spoils are restored',
    hooks: [mutating('/bogus-manager')],
    writes: [create('a', OWN), { method: 'PUT', path: `${MAPS}/a`, body: { ...map('a'), data: { k: 'v' } } }],
  },
  {
    name: 'managers that a webhook changes are kept',
    hooks: [mutating('/other-manager')],
    writes: [create('a', OWN)],
  },
  {
    name: 'owners that a webhook repeats count once',
    hooks: [mutating('/same-owners')],
    writes: [create('a')],
  },
  {
    name: 'preconditions of a deletion come first',
    hooks: [{ phase: 'Mutating', path: '/deny', rules: deletions(['configmaps']) }],
    writes: [
      create('a'),
      remove(`${MAPS}/a`, { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }),
      remove(`${MAPS}/a`, { preconditions: { resourceVersion: '1' } }),
      remove(`${MAPS}/a`),
    ],
  },
  {
    name: 'a deletion that changes nothing calls no webhook',
    hooks: [{ phase: 'Validating', path: '/allow', rules: deletions(['pods']) }],
    writes: [pod, remove(`${PODS}/p`), remove(`${PODS}/p`), remove(`${PODS}/p`, { gracePeriodSeconds: 60 })],
  },
  {
    name: 'a deletion in two steps asks twice',
    hooks: [{ phase: 'Mutating', path: '/allow', rules: deletions(['configmaps']) }],
    writes: [
      create('a'),
      remove(`${MAPS}/a`, { propagationPolicy: 'Foreground' }),
      remove(`${MAPS}/a`, { propagationPolicy: 'Background' }),
      create('b', { finalizers: ['example.com/x'] }),
      remove(`${MAPS}/b`),
      remove(`${MAPS}/b`),
    ],
  },
  {
    name: 'an update of an old version is mutated before it is refused',
    hooks: [{ phase: 'Mutating', path: '/deny', rules: [rule(['UPDATE'], ['configmaps'])] }],
    writes: [create('a'), { method: 'PUT', path: `${MAPS}/a`, body: map('a', { resourceVersion: '1' }) }],
  },
  {
    name: 'and is not validated any more',
    hooks: [
      { phase: 'Validating', path: '/deny', rules: [rule(['UPDATE'], ['configmaps'])] },
      mutating('/label-one'),
    ],
    writes: [create('a'), { method: 'PUT', path: `${MAPS}/a`, body: map('a', { resourceVersion: '1' }) }],
  },
  {
    name: 'a condition that costs too much forbids',
    hooks: [validating('/allow', { matchConditions: [costly('one')] })],
    writes: [{ method: 'POST', path: MAPS, body: { ...map('a'), data: manyKeys } }],
  },
  {
    name: 'conditions that together cost too much forbid, whatever they say',
    hooks: [
      validating('/allow', {
        matchConditions: [{ name: 'no', expression: 'false' }, costly('one'), costly('two'), costly('three')],
      }),
    ],
    writes: [{ method: 'POST', path: MAPS, body: { ...map('a'), data: manyKeys } }],
  },
];
