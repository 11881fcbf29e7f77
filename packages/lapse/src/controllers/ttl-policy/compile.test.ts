import { seconds } from '@lapse/base/instant';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { inWorld } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import { ClusterTTLPolicyKind, type ClusterTTLPolicySpec, TTLPolicyKind } from '#api/ttlPolicy';
import { type AnyPolicy, compilePolicy } from './compile.ts';
import { decideForPolicy } from './decide.ts';
import { at, clusterPolicy, compiled, policy, run } from './policy.testkit.ts';

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
