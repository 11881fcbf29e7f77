// Test helper: a custom resource whose spec has a given schema.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { builtins } from '../builtinFixture.ts';
import { decodeTyped } from '../typed.ts';
import { compileStructural, type MetadataRules } from './structural.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
export const metadata: MetadataRules = {
  decode: (json) => decodeTyped(builtins, META, json),
  validate: () => [],
};

export const compile = (spec: JsonObject) =>
  compileStructural(
    {
      type: 'object',
      properties: { spec, status: { type: 'object', properties: { n: { type: 'integer', maximum: 5 } } } },
    },
    { metadata },
  );

export const wrap = (spec: Json): JsonObject => ({
  apiVersion: 'g/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec,
});

export const texts = (schema: JsonObject, value: Json, old?: Json): string[] =>
  compile(schema)
    .validate(wrap(value), old === undefined ? undefined : wrap(old))
    .map((e) => `${e.reason.replace('FieldValue', '')} ${e.field}: ${e.message}`);

export const props = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
