import { seconds } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, decideForPolicy } from './decide.ts';
import { at, compiled, run, time } from './policy.testkit.ts';
import { buildProjection, targetFacts } from './sources.ts';

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
