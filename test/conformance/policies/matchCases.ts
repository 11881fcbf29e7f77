// Which writes a policy and its bindings match.

import type { JsonObject } from '@lapse/kube/api/json';
import { create, MAPS, map, mergePatch, named, POD_SUBRESOURCE_WRITES, rule } from '../webhooks/builders.ts';
import { condition, maps, matching, type PolicyCase, policy } from './builders.ts';

const DENY = ['false'];
const GUARDED = { matchExpressions: [{ key: 'guard', operator: 'Exists' }] };
const EVENTS = '/api/v1/namespaces/NS/events';
const event = (name: string): JsonObject => ({
  ...named('v1', 'Event', name),
  involvedObject: { kind: 'Pod', name: 'p', namespace: 'NS' },
  reason: 'Seen',
  message: 'said',
  type: 'Normal',
});
const newEvents = (matchPolicy: string) => ({
  matchConstraints: {
    matchPolicy,
    resourceRules: [{ ...rule(['CREATE'], ['events']), apiGroups: ['events.k8s.io'] }],
  },
});
const only = (name: string): JsonObject => ({ resourceRules: [maps(['*'], { resourceNames: [name] })] });
const configuration = (name: string): JsonObject => ({
  ...named('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', name),
  webhooks: [],
});
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';

export const MATCH_CASES: readonly PolicyCase[] = [
  {
    name: 'only the operations of the rule',
    policies: [policy(DENY, matching(maps(['UPDATE'])))],
    writes: [
      create('a'),
      { method: 'PUT', path: `${MAPS}/a`, body: map('a') },
      mergePatch(`${MAPS}/a`, { data: { k: 'v' } }),
      { method: 'DELETE', path: `${MAPS}/a` },
    ],
  },
  {
    name: 'deletions of an object and of a collection',
    policies: [policy(['object != null', 'oldObject.metadata.name == "a"'], matching(maps(['DELETE'])))],
    writes: [create('a'), { method: 'DELETE', path: `${MAPS}/a` }, { method: 'DELETE', path: MAPS }],
  },
  {
    name: 'only the named objects',
    policies: [policy(DENY, { matchConstraints: only('b') })],
    writes: [create('a'), create('b')],
  },
  {
    name: 'a deletion of a collection names no object',
    policies: [
      policy(DENY, { matchConstraints: only('a') }),
      policy(['has(request.name)'], matching(maps(['DELETE']))),
    ],
    writes: [
      create('b'),
      { method: 'DELETE', path: `${MAPS}?labelSelector=a` },
      { method: 'DELETE', path: MAPS },
    ],
  },
  {
    name: 'not the excluded rules',
    policies: [
      policy(DENY, {
        matchConstraints: { excludeResourceRules: [maps(['*'], { resourceNames: ['b'] })] },
      }),
    ],
    writes: [create('a'), create('b')],
  },
  {
    name: 'only the selected objects',
    policies: [policy(DENY, { matchConstraints: { objectSelector: GUARDED } })],
    writes: [create('a'), create('b', { labels: { guard: '' } })],
  },
  {
    name: 'only the selected namespaces',
    policies: [
      policy(DENY, { matchConstraints: { namespaceSelector: { matchLabels: { team: 'blue' } } } }),
      policy(['object.metadata.name != "b"']),
    ],
    writes: [create('a'), create('b')],
  },
  {
    name: 'only what the binding matches, too',
    policies: [
      policy(
        DENY,
        {},
        { matchResources: { objectSelector: GUARDED } },
        { matchResources: { resourceRules: [maps(['DELETE'])] } },
        { matchResources: { excludeResourceRules: [maps()] } },
      ),
    ],
    writes: [create('a'), create('b', { labels: { guard: '' } }), { method: 'DELETE', path: `${MAPS}/a` }],
  },
  {
    name: 'only where all conditions are true',
    policies: [policy(DENY, condition('object.metadata.name != "b"', 'request.operation == "CREATE"'))],
    writes: [create('a'), create('b')],
  },
  {
    name: 'one false condition is enough',
    policies: [policy(DENY, condition('object.data.missing == "x"', 'false'))],
    writes: [create('a')],
  },
  {
    name: 'conditions that fail deny',
    policies: [policy(['true'], condition('object.data.missing == "x"', 'object.data.gone == "x"'))],
    writes: [create('a')],
  },
  {
    name: 'conditions that fail may be ignored',
    policies: [policy(DENY, { ...condition('object.data.missing == "x"'), failurePolicy: 'Ignore' })],
    writes: [create('a')],
  },
  {
    name: 'conditions do not see the namespace',
    policies: [policy(DENY, condition('namespaceObject == null'))],
    writes: [create('a')],
  },
  {
    name: 'the same objects in another group',
    policies: [policy(['object.note != "said"'], newEvents('Equivalent'))],
    writes: [{ method: 'POST', path: EVENTS, body: event('e') }],
  },
  {
    name: 'not the same objects in another group when the match is exact',
    policies: [policy(['object.note != "said"'], newEvents('Exact'))],
    writes: [{ method: 'POST', path: EVENTS, body: event('e') }],
  },
  {
    name: 'the scope of the rule',
    policies: [policy(DENY, matching(maps(['*'], { scope: 'Cluster' })))],
    writes: [create('a')],
  },
  {
    name: 'subresources apart from their resource',
    policies: [
      policy(
        ['object.kind + "/" + request.subResource == "x"'],
        matching(rule(['*'], ['pods/binding', 'pods/eviction'])),
      ),
    ],
    writes: POD_SUBRESOURCE_WRITES,
  },
  {
    name: 'namespaces',
    policies: [
      policy(['namespaceObject != null', 'has(request.namespace) && request.namespace != "NS-own"'], {
        matchConstraints: {
          namespaceSelector: {},
          resourceRules: [rule(['CREATE'], ['namespaces'], { resourceNames: ['NS-own'] })],
        },
      }),
    ],
    writes: [{ method: 'POST', path: '/api/v1/namespaces', body: named('v1', 'Namespace', 'NS-own') }],
  },
  {
    name: 'webhook configurations, and no policies or bindings',
    policies: [
      policy(DENY, {
        matchConstraints: {
          namespaceSelector: {},
          resourceRules: [
            {
              ...rule(['*'], ['*'], { resourceNames: ['NS-hook', 'NS-0', 'NS-0-0'] }),
              apiGroups: ['admissionregistration.k8s.io'],
              apiVersions: ['*'],
            },
          ],
        },
      }),
    ],
    writes: [
      {
        method: 'POST',
        path: `${REGISTRATION}/validatingwebhookconfigurations`,
        body: configuration('NS-hook'),
      },
      { method: 'DELETE', path: `${REGISTRATION}/validatingadmissionpolicybindings/NS-0-0` },
      { method: 'DELETE', path: `${REGISTRATION}/validatingadmissionpolicies/NS-0` },
    ],
  },
  {
    name: 'generated names are known',
    policies: [policy(['!request.name.startsWith("gen-")', 'false'])],
    writes: [
      {
        method: 'POST',
        path: MAPS,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fixed', generateName: 'gen-' } },
      },
    ],
  },
];
