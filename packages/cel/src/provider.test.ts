// Programs over structural types: unknown fields are rejected, and JSON is converted as the schema declares it.

import { describe, expect, it } from 'vitest';
import {
  BOOL,
  BYTES,
  compile,
  DOUBLE,
  DURATION,
  DYN,
  type FieldType,
  INT,
  kubernetesEnvironment,
  listOf,
  mapOf,
  STRING,
  describe as show,
  structOf,
  TIMESTAMP,
  type TypeProvider,
} from './cel.ts';

const FIELDS: Readonly<Record<string, Readonly<Record<string, FieldType>>>> = {
  Root: {
    name: { type: STRING },
    replicas: { type: INT },
    ratio: { type: DOUBLE },
    ratios: { type: listOf(DOUBLE) },
    weights: { type: mapOf(STRING, DOUBLE) },
    since: { type: TIMESTAMP },
    every: { type: DURATION },
    data: { type: BYTES },
    anything: { type: DYN },
    spec: { type: structOf('Spec') },
    specs: { type: listOf(structOf('Spec')) },
    tags: { type: listOf(STRING, { kind: 'set' }) },
    ports: { type: listOf(structOf('Port'), { kind: 'map', keys: ['port', 'protocol'] }) },
    __namespace__: { type: STRING, property: 'namespace' },
    my__dash__field: { type: STRING, property: 'my-field' },
  },
  Spec: { enabled: { type: BOOL }, limit: { type: DOUBLE } },
  Port: { port: { type: INT }, protocol: { type: STRING }, name: { type: STRING } },
};

const provider: TypeProvider = {
  hasStruct: (name) => Object.hasOwn(FIELDS, name),
  field: (struct, field) => (Object.hasOwn(FIELDS[struct] ?? {}, field) ? FIELDS[struct]![field] : undefined),
};

const env = kubernetesEnvironment({
  variables: { self: structOf('Root'), oldSelf: structOf('Root') },
  provider,
});

const SELF = {
  name: 'a',
  replicas: 3,
  ratio: 1,
  ratios: [1, 2.5],
  weights: { x: 2 },
  since: '2026-01-01T00:00:00Z',
  every: '90m',
  data: 'aGVsbG8=',
  anything: { constructor: 1 },
  spec: { enabled: true, limit: 4 },
  specs: [{ limit: 1 }, { limit: 2 }],
  tags: ['a', 'b'],
  ports: [
    { port: 80, protocol: 'TCP', name: 'http' },
    { port: 53, protocol: 'UDP', name: 'dns' },
  ],
  namespace: 'kube-system',
  'my-field': 'dashed',
};
const OLD = { ...SELF, tags: ['b', 'a'], ports: SELF.ports.toReversed() };

function evaluate(rule: string): string {
  const compiled = compile(rule, env);
  if (compiled.kind === 'invalid') return compiled.message;
  const outcome = compiled.program.evaluate({ self: SELF, oldSelf: OLD });
  return outcome.kind === 'value' ? show(outcome.value) : `${outcome.kind}: ${outcome.message}`;
}

describe('structural types', () => {
  it.each<[rule: string, answer: string]>([
    ['self.replicas + 1', '4'],
    ['self.ratio', '1.0'],
    ['self.ratio + 0.5', '1.5'],
    ['self.ratios', '[1.0, 2.5]'],
    ['self.ratios.sum()', '3.5'],
    ['self.ratios.all(r, r > 0.5)', 'true'],
    ['self.weights["x"] / 4.0', '0.5'],
    ['self.weights.x', '2.0'],
    ['self.since < timestamp("2026-01-02T00:00:00Z")', 'true'],
    ['self.since + self.every', 'timestamp("2026-01-01T01:30:00Z")'],
    ['self.data == b"hello"', 'true'],
    ['self.spec.limit > 3.5 && self.spec.enabled', 'true'],
    ['self.specs.map(s, s.limit)', '[1.0, 2.0]'],
    ['self.__namespace__', '"kube-system"'],
    ['self.my__dash__field', '"dashed"'],
    ['has(self.my__dash__field)', 'true'],
    ['has(self.spec)', 'true'],
    ['self.?spec.limit', 'optional.of(4.0)'],
    ['self.anything.constructor', '1'],
    ['self.tags == oldSelf.tags', 'true'],
    ['self.ports == oldSelf.ports', 'true'],
    ['self.tags + ["b", "c"]', '["a", "b", "c"]'],
    ['[1, 2] == [2, 1]', 'false'],
    ['self.tags == ["a"]', 'false'],
  ])('%s is %s', (rule, answer) => {
    expect(evaluate(rule)).toBe(answer);
  });

  it.each<[rule: string, message: string]>([
    ['self.foo', "ERROR: <input>:1:5: undefined field 'foo'\n | self.foo\n | ....^"],
    ['has(self.foo)', "ERROR: <input>:1:4: undefined field 'foo'\n | has(self.foo)\n | ...^"],
    ['self.?foo', "ERROR: <input>:1:5: undefined field 'foo'\n | self.?foo\n | ....^"],
    [
      'self.spec.foo == 1',
      "ERROR: <input>:1:10: undefined field 'foo'\n | self.spec.foo == 1\n | .........^",
    ],
    [
      'self.replicas + self.ratio',
      "ERROR: <input>:1:15: found no matching overload for '_+_' applied to '(int, double)'\n | self.replicas + self.ratio\n | ..............^",
    ],
    [
      'self.name.size',
      "ERROR: <input>:1:10: type 'string' does not support field selection\n | self.name.size\n | .........^",
    ],
    [
      'self.a == self.b',
      "ERROR: <input>:1:5: undefined field 'a'\n | self.a == self.b\n | ....^\nERROR: <input>:1:15: undefined field 'b'\n | self.a == self.b\n | ..............^",
    ],
    [
      'self.spec.all(x, true)',
      "ERROR: <input>:1:5: expression of type 'Spec' cannot be range of a comprehension (must be list, map, or dynamic)\n | self.spec.all(x, true)\n | ....^",
    ],
  ])('%s is rejected', (rule, message) => {
    expect(evaluate(rule)).toBe(message);
  });

  it('reading a missing field is an error, testing it with has() is not', () => {
    const compiled = compile('!has(self.name) || self.name == "x"', env);
    if (compiled.kind === 'invalid') throw new Error(compiled.message);
    expect(compiled.program.evaluate({ self: {} })).toMatchObject({ kind: 'value', value: true });
    const read = compile('self.name == "x"', env);
    if (read.kind === 'invalid') throw new Error(read.message);
    expect(read.program.evaluate({ self: {} })).toMatchObject({
      kind: 'error',
      message: 'no such key: name',
    });
  });
});
