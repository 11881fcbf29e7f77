import { minutes } from '@lapse/base/instant';
import type { Job } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { expectFactsCover, expectFactsDecide, type FactsCase, missedFacts } from './facts.ts';
import { finishedJob, job } from './kit.ts';
import { readsOf } from './reads.ts';

const compute = ({ metadata, spec, status }: Job) => {
  if (metadata.deletionTimestamp !== undefined) return 'going';
  const end = status?.conditions?.find(({ type, status: is }) => type === 'Complete' && is === 'True');
  if (end === undefined) return 'unfinished';
  return `${end.lastTransitionTime} + ${spec?.ttlSecondsAfterFinished} ${metadata.labels?.tier === 'gold'}`;
};
const objects = [
  job('a'),
  finishedJob('b', { ttl: minutes(1) }),
  finishedJob('c', { ttl: minutes(2), labels: { tier: 'gold', other: 'x' } }),
  finishedJob('d', { result: 'Failed' }),
  { ...job('e'), metadata: { name: 'e', deletionTimestamp: 'x' } },
];
const whole = ({ metadata, spec, status }: Job) => [
  metadata.deletionTimestamp,
  metadata.labels?.tier,
  spec?.ttlSecondsAfterFinished,
  status?.conditions,
];
const given = (facts: FactsCase<Job>['facts'], more: Partial<FactsCase<Job>> = {}): FactsCase<Job> => ({
  facts,
  compute,
  objects,
  ...more,
});

describe('complete facts', () => {
  test('cover the fields that compute reads, and determine its result', () => {
    expectFactsCover(given(whole));
    expectFactsDecide(given(whole));
  });
  test('count whole subtrees as read', () => {
    expectFactsCover(given(({ metadata, spec, status }) => ({ metadata, spec, status })));
  });
  test('may leave out a field with a reason', () => {
    const facts = ({ metadata, spec, status }: Job) => [metadata.deletionTimestamp, spec, status];
    expect(missedFacts(given(facts))).toEqual(['metadata.labels.tier']);
    expectFactsCover(given(facts, { except: { 'metadata.labels.tier': 'only shown to people' } }));
  });
});

describe('every omission is found by both checks', () => {
  const omissions: Record<string, [FactsCase<Job>['facts'], string]> = {
    'the field of the spec': [
      ({ metadata, status }) => [metadata.deletionTimestamp, metadata.labels, status],
      'spec.ttlSecondsAfterFinished',
    ],
    'the value of a key': [
      ({ metadata, spec, status }) => [
        metadata.deletionTimestamp,
        Object.keys(metadata.labels ?? {}),
        spec,
        status,
      ],
      'metadata.labels.tier',
    ],
    'a label': [
      ({ metadata, spec, status }) => [metadata.deletionTimestamp, spec, status],
      'metadata.labels.tier',
    ],
    'a field of a list’s items': [
      ({ metadata, spec, status }) => [
        metadata.deletionTimestamp,
        metadata.labels,
        spec,
        status?.conditions?.map(({ type, status: is }) => [type, is]),
      ],
      'status.conditions[].lastTransitionTime',
    ],
    'a field that is rarely present': [
      ({ metadata, spec, status }) => [metadata.labels, spec, status],
      'metadata.deletionTimestamp',
    ],
  };
  test.each(Object.entries(omissions))('%s', (_name, [facts, path]) => {
    expect(missedFacts(given(facts))).toContain(path);
    expect(() => expectFactsCover(given(facts))).toThrow(/facts miss/);
    expect(() => expectFactsDecide(given(facts))).toThrow(/not the facts/);
  });
});

test.each<
  [
    string,
    (o: {
      a: number;
      b: { c: number; d: null; 'x.y/z'?: string };
      l: { y: number }[];
      x?: unknown;
    }) => unknown,
    string[],
  ]
>([
  ['a field', (o) => o.a, ['a']],
  ['a field of a field', (o) => o.b.c, ['b.c']],
  ['a field that is absent', (o) => o.x, ['x']],
  ['the items of a list', (o) => o.l.map(({ y }) => y), ['l[].y']],
  ['a list, but not its items', (o) => o.l.length, []],
  ['the set of keys', (o) => Object.keys(o.b), ['b.*']],
  ['whether a key exists', (o) => 'c' in o.b, ['b.c']],
  ['a name with dots', (o) => o.b['x.y/z'], ['b["x.y/z"]']],
  ['spread', (o) => ({ ...o.b }), ['b.*', 'b.c', 'b.d']],
])('%s is read', (_rule, read, paths) => {
  const object = { a: 1, b: { c: 2, d: null }, l: [{ y: 1 }, { y: 2 }] };
  expect([...readsOf(object, (seen) => void read(seen))].sort()).toEqual(paths);
});
