// Invariants of the generated data: the tables are closed and agree with each other.

import { readFileSync } from 'node:fs';
import type { BuiltinTable, DefaultsTable } from '@lapse/apiserver/schema/builtinTable';
import { expect, test } from 'vitest';
import { stringifyByLine } from './json.ts';
import type { ServedResources } from './resources.ts';

const read = <T>(path: string) =>
  JSON.parse(readFileSync(new URL(`../../packages/apiserver/src/${path}`, import.meta.url), 'utf8')) as T;
const table = read<BuiltinTable>('schema/data/types.json');
const defaults = read<DefaultsTable>('schema/data/defaults.json');
const served = read<ServedResources>('data/resources.json');
const columns = read<Record<string, unknown[]>>('data/columns.json');

const SCALARS = new Set(
  'string bool int32 int64 uint32 uint64 float64 bytes Time MicroTime Duration Quantity IntOrString'
    .split(' ')
    .concat('RawExtension', 'FieldsV1', 'JSON'),
);
const fields = Object.entries(table.types).flatMap(([type, { fields }]) =>
  Object.entries(fields).map(([name, field]) => ({ type, name, field })),
);

test('every type that is named is a scalar or in the table', () => {
  const named = fields.flatMap(({ field }) => [field.t, ...(field.pb ? [field.pb] : [])]);
  const embedded = Object.values(table.types).flatMap((type) => type.embedded?.map(({ t }) => t) ?? []);
  const unknown = [...named, ...embedded, ...Object.values(table.kinds)].filter(
    (name) => !SCALARS.has(name) && !(name in table.types),
  );
  expect(unknown).toEqual([]);
});

test('protobuf numbers are unique in each message, embedded ones included', () => {
  const clashes = Object.entries(table.types).filter(([, { fields, embedded = [] }]) => {
    const numbers = [...Object.values(fields).flatMap(({ n }) => n ?? []), ...embedded.map(({ n }) => n)];
    return new Set(numbers).size !== numbers.length;
  });
  expect(clashes).toEqual([]);
});

test('a field has a protobuf number, or comes from an embedded struct, or is kind or apiVersion', () => {
  const lost = fields.filter(({ type, name, field }) => {
    const embedded = table.types[type]?.embedded?.some(({ t }) => name in table.types[t]!.fields);
    return field.n === undefined && !embedded && name !== 'kind' && name !== 'apiVersion';
  });
  expect(lost).toEqual([]);
});

test('merge keys and list keys are fields of the element', () => {
  const wrong = fields.filter(({ field }) => {
    const keys = [...(field.lk ?? []), ...(field.mk ? [field.mk] : [])];
    return keys.some((key) => !(key in (table.types[field.t]?.fields ?? {})));
  });
  expect(wrong).toEqual([]);
});

test('defaults belong to fields that exist', () => {
  const wrong = Object.entries(defaults).flatMap(([type, values]) =>
    Object.keys(values).filter((field) => !(field in (table.types[type]?.fields ?? {}))),
  );
  expect(wrong).toEqual([]);
});

test('served resources have a struct, and columns when they can be listed', () => {
  for (const { group, version, kind, resource, verbs, subresources } of served.resources) {
    const gv = group ? `${group}/${version}` : version;
    expect(table.kinds).toHaveProperty([`${gv}/${kind}`]);
    for (const sub of subresources) {
      const subGv = sub.group ? `${sub.group}/${sub.version}` : gv;
      expect(table.kinds).toHaveProperty([`${subGv}/${sub.kind}`]);
    }
    const name = group ? `${resource}.${group}` : resource;
    expect(name in columns).toBe(verbs.includes('list'));
  }
});

test('well-known types have the expected fields', () => {
  const field = (type: string, name: string) => table.types[`io.k8s.api.${type}`]?.fields[name];
  expect(field('batch.v1.JobSpec', 'ttlSecondsAfterFinished')).toMatchObject({ t: 'int32', n: 8, ptr: true });
  expect(field('core.v1.Container', 'ports')).toMatchObject({
    list: true,
    mk: 'containerPort',
    lk: ['containerPort', 'protocol'],
  });
  expect(field('core.v1.Secret', 'data')).toMatchObject({ t: 'bytes', map: true, n: 2 });
  expect(table.types['io.k8s.api.core.v1.Volume']?.embedded).toEqual([
    { n: 2, t: 'io.k8s.api.core.v1.VolumeSource' },
  ]);
  expect(defaults['io.k8s.api.core.v1.PodSpec']).toMatchObject({
    restartPolicy: 'Always',
    securityContext: {},
  });
  expect(defaults['io.k8s.api.batch.v1.JobSpec']).toBeUndefined();
});

test('stringifyByLine writes JSON with one line per entry of the outer levels', () => {
  const value = { a: { x: [1, { y: 2 }] }, b: [], c: 'text' };
  expect(stringifyByLine(value, 2)).toBe('{\n "a": {\n  "x": [1,{"y":2}]\n },\n "b": [],\n "c": "text"\n}');
});
