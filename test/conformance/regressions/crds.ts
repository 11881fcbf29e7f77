// The cases about CustomResourceDefinitions, and the CRDs that the other cases use.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { Case, Step } from './cases.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'things.example.com';

const definition = (
  plural: string,
  kind: string,
  version: JsonObject,
  more: JsonObject = {},
): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, ...version }],
    ...more,
  },
});
const schema = (spec: JsonObject, root: JsonObject = {}): JsonObject => ({
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec } }, ...root } },
});

const THING = schema({
  properties: {
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    replicas: { type: 'integer' },
    percent: { 'x-kubernetes-int-or-string': true },
    note: { type: 'string' },
  },
});
const SCALE = { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } };

/** Created before the cases. */
export const STAGE: readonly Step[] = [
  {
    method: 'POST',
    path: DEFINITIONS,
    body: definition('things', 'Thing', { ...THING, subresources: SCALE }),
  },
  { method: 'POST', path: DEFINITIONS, body: definition('empties', 'Empty', schema({})) },
];

const dry = (version: JsonObject, more: JsonObject = {}): Step => ({
  method: 'POST',
  path: `${DEFINITIONS}?dryRun=All`,
  body: definition('others', 'Other', version, more),
});
const onThings = (type: string, body: Json, subresource = '?'): Step => ({
  method: 'PATCH',
  path: `${DEFINITIONS}/things.${GROUP}${subresource}dryRun=All&fieldManager=x`,
  type,
  body,
});
const APPLY = 'application/apply-patch+yaml';
const applied = (inner: JsonObject): JsonObject =>
  definition('things', 'Thing', schema({ properties: { a: inner } }));

export const DEFINITION_CASES: readonly Case[] = [
  {
    name: 'selectable fields are looked for in a schema that is empty, too',
    steps: [dry({ schema: {}, selectableFields: [{ jsonPath: 'a' }, { jsonPath: '' }] })],
  },
  {
    name: 'a wrong type in the items of a schema is refused in the words of JSON',
    steps: [onThings(APPLY, applied({ type: 'array', items: { type: 'string', nullable: ['x'] } }))],
  },
  {
    name: 'a wrong type in additional properties is refused in the words of JSON',
    steps: [
      onThings(
        APPLY,
        applied({ type: 'object', additionalProperties: { properties: { b: { maximum: 'x' } } } }),
      ),
    ],
  },
  {
    name: 'a float beyond all integers is the smallest of them',
    steps: [onThings(APPLY, applied({ type: 'string', maxLength: 1e30 }))],
  },
  {
    name: 'empty dependencies are dependencies',
    steps: [dry(schema({ properties: { a: { type: 'string', dependencies: {} } } }))],
  },
  {
    name: 'of two versions with one name the second is not stored',
    steps: [
      dry(schema({}), {
        versions: ['v1', 'v1'].map((name, i) => ({ name, served: true, storage: i === 1, ...schema({}) })),
      }),
    ],
  },
  {
    name: 'a webhook of which nothing is said is none',
    steps: [dry(schema({}), { conversion: { strategy: 'None', webhook: {} } })],
  },
  {
    name: 'selectable fields need a schema that can be read',
    steps: [
      dry({
        ...schema({ properties: { a: { type: 'string' } } }, { dependencies: { a: {} } }),
        selectableFields: [{ jsonPath: 'a' }],
      }),
    ],
  },
  {
    name: 'oldSelf has no counterpart in a map of an unknown type',
    steps: [
      dry(
        schema(
          {
            properties: { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
          },
          { 'x-kubernetes-map-type': 'odd' },
        ),
      ),
    ],
  },
  {
    name: 'the first wrong type of a merge patch is the first by name',
    steps: [
      onThings('application/merge-patch+json', {
        spec: {
          versions: [
            {
              name: 'v1',
              schema: { openAPIV3Schema: { properties: { a: 7 } } },
              additionalPrinterColumns: [{ name: 'x', jsonPath: 7 }],
            },
          ],
        },
      }),
    ],
  },
  {
    name: 'a key of null is another than one of nothing',
    steps: [
      onThings(
        APPLY,
        {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: { name: `things.${GROUP}` },
          status: { conditions: [{ type: null, status: 'True' }], storedVersions: ['v1'] },
        },
        '/status?force=true&',
      ),
    ],
  },
];
