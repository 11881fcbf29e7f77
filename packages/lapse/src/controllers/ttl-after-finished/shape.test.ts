// The shapes identify fields by protobuf numbers. The test compares them with the table of built-in types, which is
// generated from Kubernetes.

import { builtins, typeOf } from '@lapse/apiserver/schema/builtinFixture';
import type { BuiltinField } from '@lapse/apiserver/schema/builtinTable';
import type { Field, FieldForm, Shape } from '@lapse/kube/api/shape';
import { describe, expect, test } from 'vitest';
import { jobs } from '#expiry/job';
import { pods } from '#expiry/pod';

function formOf({ t, list, map, ptr }: BuiltinField): FieldForm | undefined {
  if (map) return 'map';
  if (t === 'string') return list ? 'texts' : 'text';
  if (t === 'Time') return 'time';
  // A number that is not a pointer is absent in JSON when it is zero; shapes do not support that.
  if ((t === 'int32' || t === 'int64') && ptr) return 'int';
  if (t === 'bool' && ptr) return 'flag';
  if (t in builtins.types) return list ? 'many' : 'one';
  return undefined;
}

/** Every field of a shape with its entry in the table. */
function* compare(type: string, shape: Shape, path = ''): Generator<[path: string, Field, unknown]> {
  for (const [name, field] of Object.entries(shape)) {
    const known = builtins.types[type]?.fields[name];
    const { shape: _, keys: __, ...plain } = field;
    yield [`${path}${name}`, plain, known && { number: known.n, form: formOf(known) }];
    if (field.shape !== undefined && known !== undefined)
      yield* compare(known.t, field.shape, `${path}${name}.`);
  }
}

describe.each([
  ['batch/v1/Job', jobs.projection.shape!],
  ['v1/Pod', pods.projection.shape!],
])('%s', (type, shape) => {
  test.each([...compare(typeOf(type), shape)])('%s', (_path, field, known) => {
    expect(field).toEqual(known);
  });
});
