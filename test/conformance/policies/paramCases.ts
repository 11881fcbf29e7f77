// Parameters: which objects a binding refers to, and what happens when they are missing.

import type { JsonObject } from '@lapse/kube/api/json';
import { create, MAPS, map, named, rule, type WriteStep } from '../webhooks/builders.ts';
import { failing, type PolicyCase, policy } from './builders.ts';

const CONFIG_MAP = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
const data = (name: string, value: string, labels: JsonObject = {}): WriteStep => ({
  method: 'POST',
  path: MAPS,
  body: { ...map(name, { labels }), data: { allowed: value } },
});
const limited = {
  expression: 'object.metadata.name == params.data.allowed',
  messageExpression: '"not " + params.data.allowed',
};
const ref = (paramRef: JsonObject): JsonObject => ({
  paramRef: { parameterNotFoundAction: 'Deny', ...paramRef },
});
const BEFORE = [data('limit', 'a', { set: 'one' }), data('other', 'b', { set: 'one' })];
const WRITES = [create('a'), create('c')];

export const PARAM_CASES: readonly PolicyCase[] = [
  {
    name: 'parameters by name, in the namespace of the object',
    before: BEFORE,
    policies: [policy([limited], CONFIG_MAP, ref({ name: 'limit' }))],
    writes: WRITES,
  },
  {
    name: 'parameters by name, in a given namespace',
    before: BEFORE,
    policies: [policy([limited], CONFIG_MAP, ref({ name: 'limit', namespace: 'NS' }))],
    writes: WRITES,
  },
  {
    name: 'every selected parameter must allow',
    before: [data('limit', 'a', { set: 'one' }), data('other', 'x', { set: 'two' })],
    policies: [policy([limited], CONFIG_MAP, ref({ selector: { matchLabels: { set: 'one' } } }))],
    writes: WRITES,
  },
  {
    name: 'one of several selected parameters denies',
    before: BEFORE,
    policies: [policy([limited.expression], CONFIG_MAP, ref({ selector: { matchLabels: { set: 'one' } } }))],
    writes: [create('a')],
  },
  {
    name: 'each binding has its own parameters',
    before: [data('limit', 'a'), data('other', 'a')],
    policies: [policy([limited], CONFIG_MAP, ref({ name: 'limit' }), ref({ name: 'other' }))],
    writes: [create('a')],
  },
  {
    name: 'a missing parameter denies',
    policies: [policy(['true'], CONFIG_MAP, ref({ name: 'missing' }))],
    writes: [create('a')],
  },
  {
    name: 'a missing parameter is ignored with failurePolicy Ignore',
    policies: [policy(['false'], { ...CONFIG_MAP, failurePolicy: 'Ignore' }, ref({ name: 'missing' }))],
    writes: [create('a')],
  },
  {
    name: 'a missing parameter allows',
    policies: [policy(['false'], CONFIG_MAP, ref({ name: 'missing', parameterNotFoundAction: 'Allow' }))],
    writes: [create('a')],
  },
  {
    name: 'no selected parameter denies',
    policies: [policy(['true'], CONFIG_MAP, ref({ selector: { matchLabels: { set: 'none' } } }))],
    writes: [create('a')],
  },
  {
    name: 'parameters are null without a reference',
    policies: [policy(['params == null'], CONFIG_MAP)],
    writes: [create('a')],
  },
  {
    name: 'a reference means nothing to a policy without parameters',
    policies: [policy(['object.metadata.name == "a"'], {}, ref({ name: 'missing' }))],
    writes: WRITES,
  },
  {
    name: 'parameters are whole objects',
    before: BEFORE,
    policies: [
      policy(
        [
          failing({
            messageExpression:
              'params.apiVersion + params.kind + params.metadata.name + string(has(params.metadata.managedFields))',
          }),
        ],
        CONFIG_MAP,
        ref({ name: 'limit' }),
      ),
    ],
    writes: [create('a')],
  },
  {
    name: 'conditions see parameters',
    before: BEFORE,
    policies: [
      policy(
        ['false'],
        {
          ...CONFIG_MAP,
          matchConditions: [{ name: 'c', expression: 'params.data.allowed != object.metadata.name' }],
        },
        ref({ name: 'limit' }),
      ),
    ],
    writes: WRITES,
  },
  {
    name: 'parameters of a namespace cannot be found for what is in none',
    policies: [
      policy(
        ['true'],
        {
          ...CONFIG_MAP,
          matchConstraints: {
            namespaceSelector: {},
            resourceRules: [
              {
                ...rule(['CREATE'], ['clusterroles'], { resourceNames: ['NS-role'] }),
                apiGroups: ['rbac.authorization.k8s.io'],
              },
            ],
          },
        },
        ref({ name: 'limit' }),
      ),
    ],
    writes: [
      {
        method: 'POST',
        path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
        body: { ...named('rbac.authorization.k8s.io/v1', 'ClusterRole', 'NS-role'), rules: [] },
      },
    ],
  },
  {
    name: 'parameters of the cluster have no namespace',
    policies: [
      policy(
        ['params.metadata.name == "NS"'],
        { paramKind: { apiVersion: 'v1', kind: 'Namespace' } },
        ref({ name: 'NS', namespace: 'NS' }),
      ),
    ],
    writes: [create('a')],
  },
  {
    name: 'parameters of the cluster',
    policies: [
      policy(
        ['params.metadata.name == "NS"', 'params.metadata.labels.team == "blue"'],
        { paramKind: { apiVersion: 'v1', kind: 'Namespace' } },
        ref({ name: 'NS' }),
      ),
    ],
    writes: [create('a')],
  },
  {
    name: 'a kind of parameters that is not served denies',
    policies: [
      policy(['true'], { paramKind: { apiVersion: 'example.com/v1', kind: 'NoSuch' } }, ref({ name: 'x' })),
    ],
    writes: [create('a')],
  },
  {
    name: 'a kind of parameters that is not served is ignored with failurePolicy Ignore',
    policies: [
      policy(
        ['false'],
        { paramKind: { apiVersion: 'example.com/v1', kind: 'NoSuch' }, failurePolicy: 'Ignore' },
        ref({ name: 'x' }),
      ),
    ],
    writes: [create('a')],
  },
  {
    name: 'an object may be its own parameter',
    policies: [
      policy(
        ['params.metadata.name == object.metadata.name'],
        CONFIG_MAP,
        ref({ name: 'self', parameterNotFoundAction: 'Allow' }),
      ),
    ],
    before: [create('self')],
    writes: [
      create('a'),
      { method: 'PUT', path: `${MAPS}/self`, body: { ...map('self'), data: { k: 'v' } } },
    ],
  },
];
