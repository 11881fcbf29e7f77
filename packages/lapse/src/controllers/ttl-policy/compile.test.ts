import { seconds } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { inWorld } from '@lapse/runtime/world.testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ClusterTTLPolicyKind, type ClusterTTLPolicySpec, TTLPolicyKind } from '#api/ttlPolicy';
import { type AnyPolicy, compilePolicy } from './compile.ts';
import { decide, decideForPolicy } from './decide.ts';
import { at, clusterPolicy, compiled, policy, run, time } from './policy.testkit.ts';
import { buildProjection, targetFacts } from './sources.ts';

type Spec = Partial<Record<keyof ClusterTTLPolicySpec, unknown>>;
const errorsOf = (given: AnyPolicy): string[] => {
  const result = compilePolicy(given);
  return result.kind === 'invalid' ? result.errors.map(({ field, message }) => `${field}: ${message}`) : [];
};

describe('an invalid policy is refused with the field', () => {
  test.each<[string, Spec, RegExp]>([
    ['syntax', { finishedAt: 'object.' }, /^spec.finishedAt: .*Syntax error/s],
    [
      'an undeclared name',
      { finishedAt: 'obj.status' },
      /^spec.finishedAt: .*undeclared reference to 'obj'/s,
    ],
    ['the wrong type', { finishedAt: '1 + 1' }, /^spec.finishedAt: .*it is of type int, not a timestamp/],
    ['an expression of type list', { finishedAt: '[object.x]' }, /type list/],
    ['an outcome that is not a bool', { succeeded: '"yes"' }, /^spec.succeeded: .*not a bool/],
    [
      'an expression that reads the time',
      { finishedAt: 'time' },
      /^spec.finishedAt: Forbidden: .*`object` only/,
    ],
    ['an invalid regular expression', { succeeded: 'object.x.matches("(")' }, /^spec.succeeded/],
    ['too deep nesting', { finishedAt: `${'('.repeat(300)}1${')'.repeat(300)}` }, /^spec.finishedAt/],
    ['a duration without a unit', { ttl: '5' }, /^spec.ttl: .*missing unit/],
    ['a duration in days', { ttl: '1d' }, /unknown unit "d"/],
    ['a duration that is too long', { ttl: '99999999999h' }, /^spec.ttl: .*invalid duration/],
    ['a negative duration', { ttl: '-1s' }, /must not be negative/],
    ['an empty duration', { ttl: '' }, /invalid duration/],
    ['both TTLs', { ttl: '1h', ttlAfter: { failed: '1h' }, succeeded: 'true' }, /exactly one/],
    ['ttlAfter without succeeded', { ttlAfter: { failed: '1h' } }, /^spec.succeeded: Required/],
    ['an empty ttlAfter', { ttlAfter: {}, succeeded: 'true' }, /^spec.ttlAfter: Required/],
    [
      'an invalid duration in ttlAfter',
      { ttlAfter: { failed: 'x' }, succeeded: 'true' },
      /^spec.ttlAfter.failed/,
    ],
    ['an unknown mode', { mode: 'enforce' }, /^spec.mode/],
    ['no kind', { target: { apiVersion: 'v1', kind: '' } }, /^spec.target.kind: Required/],
    ['no target', { target: undefined }, /^spec.target.apiVersion: Required/],
    ['a version with two slashes', { target: { apiVersion: 'a/b/c', kind: 'X' } }, /^spec.target.apiVersion/],
    ['an invalid label', { selector: { matchLabels: { 'a b': 'x' } } }, /^spec.selector.matchLabels/],
    [
      'an invalid label value',
      { selector: { matchLabels: { a: 'x,y' } } },
      /^spec.selector.matchLabels\[a\]/,
    ],
    [
      'an unknown operator',
      { selector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } },
      /matchExpressions\[0\].operator/,
    ],
    [
      'In without values',
      { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      /matchExpressions\[0\].values: Required/,
    ],
    [
      'Exists with values',
      { selector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] } },
      /values: Forbidden/,
    ],
    [
      'a selector that is too long for a request',
      {
        selector: {
          matchExpressions: Array.from({ length: 60 }, (_, i) => ({
            key: `k${i}`,
            operator: 'In',
            values: Array.from({ length: 200 }, (_, j) => `value-${j}`),
          })),
        },
      },
      /^spec.selector: Forbidden: .*limit/,
    ],
  ])('%s', (_what, spec, expected) => {
    expect(errorsOf(policy(spec as never)).join('\n')).toMatch(expected);
  });
  test('an incomplete service account', () => {
    expect(errorsOf(clusterPolicy({ serviceAccountName: 'x' }))[0]).toMatch(/^spec.serviceAccountNamespace/);
    expect(errorsOf(clusterPolicy({ serviceAccountNamespace: 'x' }))[0]).toMatch(/go together/);
  });
  test('all errors at once', () => {
    expect(errorsOf(policy({ ttl: 'x', finishedAt: 'y', succeeded: 'z' }))).toHaveLength(3);
  });
  test('a missing spec', () => {
    expect(errorsOf({ ...policy(), spec: undefined as never })).not.toEqual([]);
  });
});

describe('a valid policy', () => {
  test('gets one sorted selector text', () => {
    const selector = {
      matchLabels: { b: '2', a: '1' },
      matchExpressions: [
        { key: 'd', operator: 'NotIn', values: ['y', 'x'] },
        { key: 'e', operator: 'Exists' },
        { key: 'f', operator: 'DoesNotExist' },
        { key: 'c', operator: 'In', values: ['z'] },
      ],
    };
    expect(compiled({ selector }).labelSelector).toBe('!f,a=1,b=2,c in (z),d notin (x,y),e');
  });
  test('may contain names of inherited properties', () => {
    for (const kind of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const { target } = compiled({ target: { apiVersion: 'example.com/v1', kind } });
      expect(target.kind).toBe(kind);
    }
    expect(compiled({ selector: { matchLabels: { constructor: 'x' } } }).labelSelector).toBe('constructor=x');
  });
  test.each([undefined, 'toString', 'constructor'])(
    'does not treat an annotation %s as an override',
    (key) => {
      const annotations = key === undefined ? {} : { [key]: 'never' };
      expect(
        decideForPolicy(compiled(), run(0, { metadata: { annotations } }), {
          now: at(60),
          tolerance: seconds(1),
        }).kind,
      ).toBe('expired');
    },
  );
});

const EXPRESSIONS = [
  undefined,
  'object.status.completionTime',
  'object.?status.?completionTime',
  'has(object.status.a) ? object.status.b : null',
  'object.status.a.b.c',
  'object.status.conditions.filter(c, c.status == "True")[0].lastTransitionTime',
  'object.metadata.annotations["x"]',
  'object.metadata.labels.x == "1" ? object.status.a : object.status.b',
  'object.spec.a == object.status.a ? object.status.completionTime : null',
  'size(object.status) > 1 ? object.status.b : null',
  'object.status["a"]',
];
const OUTCOMES = [
  'object.status.ok',
  'object.status.conditions.exists(c, c.type == "Succeeded")',
  'has(object.spec.a)',
];

const text = fc.constantFrom(time(0), time(5), '', 'x', '0001-01-01T00:00:00Z');
const leaf: fc.Arbitrary<unknown> = fc.oneof(text, fc.constant(null), fc.boolean(), fc.integer({ max: 3 }));
const node = fc.oneof(
  leaf,
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(leaf, fc.record({ c: leaf }))),
);
const conditions = fc.array(
  fc.record({
    type: fc.constantFrom('Succeeded', 'Complete', 'Failed', 'Other'),
    status: fc.constantFrom('True', 'False', 'Unknown'),
    lastTransitionTime: text,
  }),
  { maxLength: 3 },
);
const someObject = fc
  .record({
    status: fc.option(
      fc.oneof(
        fc.record({ completionTime: text, a: node, b: node, ok: leaf, conditions }, { requiredKeys: [] }),
        fc.constant('odd'),
      ),
      { nil: undefined },
    ),
    spec: fc.option(fc.record({ a: node }, { requiredKeys: [] }), { nil: undefined }),
    labels: fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2')),
    annotations: fc.dictionary(
      fc.constantFrom('lapse.dev/ttl', 'lapse.dev/expires-at', 'x', 'y'),
      fc.constantFrom('never', '5s', 'bad', time(3)),
    ),
    version: fc.constantFrom('1', '2'),
    data: leaf,
  })
  .map(({ status, spec, labels, annotations, version, data }): KubeObject => {
    const { status: _, ...base } = run(undefined, {
      metadata: { labels, annotations, resourceVersion: version },
    });
    return {
      ...base,
      data,
      ...(status === undefined ? {} : { status }),
      ...(spec === undefined ? {} : { spec }),
    };
  });
const someSpec = fc
  .record({
    finishedAt: fc.constantFrom(...EXPRESSIONS),
    outcome: fc.option(fc.constantFrom(...OUTCOMES)),
    allowOverrides: fc.boolean(),
    from: fc.constantFrom<'Finished' | 'Created'>('Finished', 'Finished', 'Created'),
  })
  .map(({ finishedAt, outcome, ...rest }) => ({
    ...rest,
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(outcome === null
      ? { ttl: '10s' }
      : { succeeded: outcome, ttlAfter: { succeeded: '1s', failed: '1m' } }),
  }));

describe('the projection of a target', () => {
  const moment = { now: at(30), tolerance: seconds(1) };
  test('gives the same decision as the object', () => {
    fc.assert(
      fc.property(someSpec, someObject, (spec, object) => {
        const p = compiled(spec);
        const kept = buildProjection(p, { name: 'p' }).project(object);
        expect(decideForPolicy(p, kept, moment)).toEqual(decideForPolicy(p, object, moment));
      }),
      { numRuns: 500 },
    );
  });
  test('gives equal decisions for equal facts', () => {
    fc.assert(
      fc.property(someSpec, someObject, someObject, (spec, one, other) => {
        const p = compiled(spec);
        const projection = buildProjection(p, { name: 'p' });
        const [a, b] = [projection.project(one), projection.project(other)];
        // The same facts, with all other fields of the other object.
        const same = { ...a, metadata: { ...a.metadata, resourceVersion: b.metadata.resourceVersion! } };
        expect(targetFacts(same)).toEqual(targetFacts(a));
        expect(decide([{ policy: p, object: same }], moment)).toEqual(
          decide([{ policy: p, object: a }], moment),
        );
      }),
      { numRuns: 200 },
    );
  });
  test('keeps every field that a decision reads', () => {
    const p = compiled({ finishedAt: 'object.status.a.b', allowOverrides: true });
    const object = run(0, { status: { a: { b: time(0), other: 1 } }, metadata: { labels: { l: '1' } } });
    const reads = new Set<string>();
    const recording = <T extends object>(value: T, path: string): T =>
      new Proxy(value, {
        get(target, key) {
          const inner = Reflect.get(target, key);
          if (typeof key !== 'string' || !Object.hasOwn(target, key)) return inner;
          const at = path === '' ? key : `${path}.${key}`;
          if (typeof inner !== 'object' || inner === null) reads.add(at);
          return typeof inner === 'object' && inner !== null ? recording(inner as object, at) : inner;
        },
      });
    decideForPolicy(p, recording(object, ''), moment);
    const kept = buildProjection(p, { name: 'p' }).project(object) as unknown as JsonObject;
    const valueAt = (path: string) => path.split('.').reduce<unknown>((o, k) => (o as JsonObject)?.[k], kept);
    expect(reads.size).toBeGreaterThan(0);
    for (const path of reads) expect([path, valueAt(path)]).not.toEqual([path, undefined]);
  });
  test('of a Tekton PipelineRun contains only the fields that are read', () => {
    const object = run(0, {
      status: { childReferences: Array.from({ length: 20 }, (_, i) => ({ name: `t${i}` })) },
      metadata: { labels: { a: 'b' }, managedFields: [{}] },
    });
    expect(
      buildProjection(compiled({ finishedAt: 'object.status.completionTime' }), { name: 'p' }).project(
        object,
      ),
    ).toEqual({
      apiVersion: 'tekton.dev/v1',
      kind: 'PipelineRun',
      metadata: {
        name: 'run-1',
        namespace: 'ci',
        uid: 'u1',
        resourceVersion: '7',
        creationTimestamp: time(-100),
        labels: { a: 'b' },
      },
      status: { completionTime: time(0) },
    });
  });
  test('keeps fields with prototype names', () => {
    const p = compiled({ finishedAt: 'object.__proto__.constructor' });
    const object = JSON.parse(`{"metadata":{"name":"x"},"__proto__":{"constructor":"${time(0)}","b":1}}`);
    const kept = buildProjection(p, { name: 'p' }).project(object);
    expect(Object.hasOwn(kept, '__proto__')).toBe(true);
    expect(decideForPolicy(p, kept, moment)).toMatchObject({ kind: 'waiting' });
    expect(({} as JsonObject)['constructor']).toBe(Object);
  });
});

describe('the schema', () => {
  const refused: [string, Spec, RegExp][] = [
    [
      'both TTLs',
      { ttl: '1h', ttlAfter: { failed: '1h' }, succeeded: 'true' },
      /exactly one of ttl and ttlAfter/,
    ],
    ['no TTL', { ttl: undefined }, /exactly one of ttl and ttlAfter/],
    [
      'ttlAfter without succeeded',
      { ttl: undefined, ttlAfter: { failed: '1h' } },
      /ttlAfter needs succeeded/,
    ],
    ['no mode', { mode: undefined }, /spec.mode: Required/],
    ['another mode', { mode: 'On' }, /spec.mode: Unsupported/],
    ['a negative TTL', { ttl: '-1h' }, /spec.ttl/],
    ['a TTL in days', { ttl: '1d' }, /spec.ttl/],
    ['a kind with a slash', { target: { apiVersion: 'v1', kind: 'a/b' } }, /spec.target.kind/],
    ['no budget', { maxDeletionsPerMinute: 0 }, /maxDeletionsPerMinute/],
    ['an empty expression', { finishedAt: '' }, /finishedAt/],
    ['an expression that is too long', { finishedAt: 'x'.repeat(5000) }, /finishedAt/],
  ];
  test(
    'is served, sets defaults and refuses invalid policies',
    inWorld({}, async (w) => {
      for (const { crd } of [TTLPolicyKind, ClusterTTLPolicyKind])
        expect((await w.user.create(CustomResourceDefinition, crd as never)).kind).toBe('created');
      await w.pass(1000);
      const local = { namespace: 'default' };
      const made = await w.user.create(TTLPolicyKind.kind, policy({}, local));
      expect(made).toMatchObject({
        kind: 'created',
        object: { spec: { from: 'Finished', allowOverrides: false, propagationPolicy: 'Background' } },
      });
      const cluster = await w.user.create(ClusterTTLPolicyKind.kind, clusterPolicy());
      expect(cluster).toMatchObject({
        kind: 'created',
        object: { spec: { excludedNamespaces: ['kube-*'] } },
      });
      const half = await w.user.create(
        ClusterTTLPolicyKind.kind,
        clusterPolicy({ serviceAccountName: 'x' }, { name: 'h' }),
      );
      expect(half).toMatchObject({ kind: 'invalid' });
      for (const [what, spec, message] of refused) {
        const given = policy({}, { ...local, name: 'bad' });
        const answer = await w.user.create(TTLPolicyKind.kind, {
          ...given,
          spec: { ...given.spec, ...spec } as never,
        });
        expect([what, answer.kind === 'invalid' ? answer.error.message : answer.kind]).toEqual([
          what,
          expect.stringMatching(message),
        ]);
      }
    }),
  );
});
