// The objects that are applied: a custom resource with every kind of list and map, and built-in kinds with the usual
// ones.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Picker, Subject } from './histories.ts';

export const GROUP = 'apply.example.com';

const port = (pick: Picker, name: string): JsonObject => ({
  name,
  ...pick.maybe({ protocol: () => pick.one(['TCP', 'UDP']) }, 0.3),
  ...pick.maybe({ port: () => 80 + pick.int(3), target: () => pick.one(['a', 'b']) }, 0.6),
});

const text = { type: 'string' };
const granular = { type: 'object', additionalProperties: text };

export const definition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  note: text,
                  preset: { type: 'string', default: 'on' },
                  either: { 'x-kubernetes-int-or-string': true },
                  tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
                  atoms: { type: 'array', items: text },
                  box: { ...granular, 'x-kubernetes-map-type': 'atomic' },
                  free: granular,
                  deep: {
                    type: 'object',
                    properties: { a: { type: 'object', properties: { b: text, c: { type: 'integer' } } } },
                  },
                  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  ports: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name', 'protocol'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: text,
                        protocol: { type: 'string', default: 'TCP' },
                        port: { type: 'integer' },
                        target: text,
                      },
                    },
                  },
                },
              },
              status: { type: 'object', properties: { phase: text, count: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

const gadget: Subject = {
  name: 'a custom resource',
  apiVersion: `${GROUP}/v1`,
  kind: 'Gadget',
  path: `/apis/${GROUP}/v1/namespaces/NS/gadgets`,
  hasStatus: true,
  fields: (pick) => ({
    spec: pick.maybe({
      size: () => pick.int(3),
      note: () => pick.one(['n', 'm']),
      preset: () => pick.one(['on', 'off']),
      either: () => pick.one<string | number>([1, '1%']),
      tags: () => pick.some(['a', 'b', 'c']),
      atoms: () => pick.some(['x', 'y']),
      box: () => pick.maybe({ p: () => '1', q: () => pick.one(['1', '2']) }),
      free: () => pick.maybe({ k: () => pick.one(['1', '2']), l: () => '1' }),
      deep: () =>
        pick.maybe({ a: () => pick.maybe({ b: () => pick.one(['1', '2']), c: () => pick.int(2) }) }),
      any: () => pick.maybe({ u: () => pick.int(2), v: () => ({ w: pick.some([1, 2]) }), z: () => null }),
      ports: () => pick.some(['http', 'https', 'admin']).map((name) => port(pick, name)),
    }),
  }),
};

const configMap: Subject = {
  name: 'a ConfigMap',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  path: '/api/v1/namespaces/NS/configmaps',
  hasStatus: false,
  fields: (pick) =>
    pick.maybe(
      {
        data: () =>
          pick.maybe({ a: () => pick.one(['1', '2']), b: () => '1', c: () => pick.one(['1', '2']) }),
        binaryData: () => pick.maybe({ z: () => 'AA==' }),
      },
      0.7,
    ),
};

const container = (pick: Picker, name: string): JsonObject => ({
  name,
  image: pick.one(['busybox:1', 'busybox:2']),
  ...pick.maybe({
    env: () => pick.some(['A', 'B']).map((variable) => ({ name: variable, value: pick.one(['1', '2']) })),
    ports: () => pick.some([80, 443]).map((containerPort) => ({ containerPort })),
    args: () => pick.some(['x', 'y']),
    resources: () => ({ limits: pick.maybe({ cpu: () => pick.one(['1', '2']) }) }),
  }),
});

const deployment: Subject = {
  name: 'a Deployment',
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  path: '/apis/apps/v1/namespaces/NS/deployments',
  hasStatus: false,
  fields: (pick) => ({
    spec: {
      selector: { matchLabels: { app: 'x' } },
      ...pick.maybe({ replicas: () => pick.int(3), paused: () => true }),
      template: {
        metadata: { labels: { app: 'x', ...pick.maybe({ tier: () => pick.one(['1', '2']) }) } },
        spec: {
          containers: ['main', ...pick.some(['side'])].map((name) => container(pick, name)),
          ...pick.maybe({ nodeSelector: () => ({ disk: pick.one(['ssd', 'hdd']) }) }),
        },
      },
    },
  }),
};

const service: Subject = {
  name: 'a Service',
  apiVersion: 'v1',
  kind: 'Service',
  path: '/api/v1/namespaces/NS/services',
  hasStatus: false,
  fields: (pick) => ({
    spec: {
      clusterIP: 'None',
      ...pick.maybe({ selector: () => pick.maybe({ app: () => pick.one(['x', 'y']), tier: () => '1' }) }),
      ports: ['a', ...pick.some(['b', 'c'])].map((name, i) => ({
        name,
        port: 80 + i,
        ...pick.maybe({ targetPort: () => pick.one<string | number>([8080, 'http']) }),
      })),
    },
  }),
};

export const SUBJECTS: readonly Subject[] = [gadget, configMap, deployment, service];
