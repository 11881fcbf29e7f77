// Text and structured output of a plan. Names from the cluster must not control the terminal.

import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Plan, PlannedDeletion } from '#forecast/plan';
import { namingAmong } from '#forecast/resolveKind';
import { planJson, planYaml } from './document.ts';
import { planText } from './text.ts';

const NOW = Date.parse('2026-03-01T10:00:00Z');
const at = (seconds: number) => instant(NOW + seconds * 1000);
const object = (kind: string, name: string, namespace?: string) => ({
  apiVersion: 'v1',
  kind,
  name,
  uid: `uid-${name}`,
  ...(namespace === undefined ? {} : { namespace }),
});
const deletion = (name: string, seconds: number, more: Partial<PlannedDeletion> = {}): PlannedDeletion => ({
  at: at(seconds),
  object: object('Job', name, 'ci'),
  family: 'ttl-after-finished',
  rule: 'spec.ttlSecondsAfterFinished',
  because: 'finished',
  propagation: 'Foreground',
  dependents: [],
  moreDependents: 0,
  ...more,
});
const plan = (more: Partial<Plan> = {}): Plan => ({
  made: at(0),
  until: at(7 * 86_400),
  cluster: 'kind-test',
  deletions: [],
  held: [],
  more: 0,
  ...more,
});
const SERVED_BY_ALL = {
  namespaced: true,
  verbs: ['get', 'list'],
  shortNames: [],
  categories: [],
  singular: '',
  subresources: [],
};
const shown = (more: Partial<Plan>, wide = false) => planText(plan(more), { colour: false, wide });

describe('on a terminal', () => {
  const of: Partial<Plan> = {
    deletions: [
      deletion('next', 3600, { because: 'finished 2026-03-01T09:30:00Z, TTL 1h30m0s', moreDependents: 2 }),
      deletion('later', 7200, { rule: 'Policy ci/a', because: 'Policy ci/a: finished' }),
    ],
    held: [{ object: object('Node', 'n'), family: 'f', rule: 'r', because: 'paused' }],
  };
  const on = (columns: number) => planText(plan(of), { colour: false, wide: false, columns });

  test('that is wide enough, the text is the same as elsewhere', () => {
    expect(on(200)).toBe(shown(of));
  });

  test('a long reason is wrapped in its column', () => {
    const [, first, second] = on(130).split('\n');
    expect(first).toMatch(/ {2}2 {11}finished 2026-03-01T09:30:00Z, TTL$/);
    expect(second).toBe(`${' '.repeat(first!.indexOf('finished'))}1h30m0s`);
  });

  test('of 80 columns, rule and reason are below their object', () => {
    expect(on(80)).toBe(`ENDS    AT                    OBJECT
in 1 h  2026-03-01T11:00:00Z  job/next -n ci
    spec.ttlSecondsAfterFinished: finished 2026-03-01T09:30:00Z, TTL 1h30m0s;
    dependents: 2
in 2 h  2026-03-01T12:00:00Z  job/later -n ci
    Policy ci/a: finished

HELD    RULE  WHY
node/n  r     paused

kind-test: 2 deletions until 2026-03-08T10:00:00Z, 2 dependents, 1 held.
`);
  });

  test.each([1, 40, 80, 100, 125, 200])('of %i columns nothing is omitted', (columns) => {
    const said = on(columns).split(/\s+/);
    for (const word of ['job/next', 'job/later', '1h30m0s', 'Policy', 'paused', 'held.'])
      expect(said).toContainEqual(expect.stringMatching(`^${word};?$`));
  });
});

describe('text', () => {
  test('without deletions', () => {
    expect(shown({})).toBe('kind-test: 0 deletions until 2026-03-08T10:00:00Z.\n');
  });

  test('with all sections', () => {
    const dependents = [{ object: object('Pod', 'p', 'ci'), depth: 1 }];
    const text = shown(
      {
        deletions: [deletion('late', -90), deletion('next', 3600, { dependents, moreDependents: 2 })],
        held: [{ object: object('Node', 'n'), family: 'f', rule: 'r', because: 'paused', until: at(60) }],
        changes: [{ at: at(30), object: object('Pool', 'x'), family: 'f', rule: 'r', because: 'leaves' }],
        unread: ['secrets: forbidden'],
        more: 1,
      },
      true,
    );
    expect(text).toBe(
      `ENDS                AT                    OBJECT          RULE                          DEPENDENTS  WHY
overdue 1 min 30 s  2026-03-01T09:58:30Z  job/late -n ci  spec.ttlSecondsAfterFinished  -           finished
in 1 h              2026-03-01T11:00:00Z  job/next -n ci  spec.ttlSecondsAfterFinished  3           finished
  └ pod/p -n ci
  └ and 2 more

CHANGES  AT                    OBJECT  WHY
in 30 s  2026-03-01T10:00:30Z  pool/x  leaves

HELD    RULE  WHY
node/n  r     paused (next evaluation in 1 min)

could not be read: secrets: forbidden

kind-test: 2 deletions until 2026-03-08T10:00:00Z, 1 of them overdue, 3 dependents, 1 held, 1 later.
`,
    );
  });

  test('with a namespace, and a note if it does not exist', () => {
    expect(shown({ view: { namespace: 'ci', exists: true } })).toBe(
      'kind-test, namespace ci: 0 deletions until 2026-03-08T10:00:00Z.\n',
    );
    expect(shown({ view: { namespace: 'nope', exists: false } })).toBe(
      'kind-test, namespace nope (which does not exist): 0 deletions until 2026-03-08T10:00:00Z.\n',
    );
  });

  test.each([
    ['Paused', 60, 'would be deleted in 1 min'],
    ['DryRun', -60, 'would be overdue 1 min'],
    [undefined, 44, 'next evaluation in 44 s'],
    [undefined, -44, 'next evaluation now'],
  ] as const)('an object held for the reason %s, for %d s: %s', (reason, seconds, words) => {
    const held = { object: object('Job', 'j'), family: 'f', rule: 'r', because: 'b', until: at(seconds) };
    expect(shown({ held: [reason === undefined ? held : { ...held, reason }] })).toContain(`b (${words})\n`);
  });

  test('names have the form that the cluster accepts', () => {
    const naming = namingAmong(
      [
        { group: '', version: 'v1', kind: 'Service', resource: 'services' },
        { group: 'serving.knative.dev', version: 'v1', kind: 'Service', resource: 'services' },
      ].map((kind) => ({ ...kind, ...SERVED_BY_ALL })),
    );
    const service = (apiVersion: string) => ({ ...object('Service', 'a', 'ci'), apiVersion });
    const text = planText(
      plan({
        deletions: [
          deletion('a', 1, {
            object: service('serving.knative.dev/v1'),
            dependents: [{ object: service('v1'), depth: 1 }],
          }),
        ],
      }),
      { colour: false, wide: true, naming },
    );
    expect(text).toContain(' service.serving.knative.dev/a -n ci ');
    expect(text).toContain('└ service/a -n ci\n');
  });

  test('control characters in names are escaped', () => {
    const hostile = '\u001b[2J\u0007\r\n\u202eevil\u009b';
    const text = shown({
      cluster: hostile,
      deletions: [deletion(hostile, 5, { rule: hostile, because: hostile })],
      held: [{ object: object('Job', hostile, hostile), family: 'f', rule: hostile, because: hostile }],
      unread: [hostile],
    });
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(text.split('\n')).toHaveLength(10);
  });
});

describe('documents', () => {
  const one = plan({
    deletions: [deletion('a', 1)],
    held: [{ object: object('Job', 'b'), family: 'f', rule: 'r', because: 'c', until: at(2) }],
    changes: [{ at: at(3), object: object('Pool', 'x'), family: 'f', rule: 'r', because: 'd' }],
  });
  test('JSON and YAML are equal, and times are RFC 3339', () => {
    const text = planJson(one);
    const json = JSON.parse(text) as Record<string, unknown>;
    expect(text).toBe(`${JSON.stringify(json, null, 2)}\n`);
    expect(parse(planYaml(one))).toEqual(json);
    expect(json).toMatchObject({
      made: '2026-03-01T10:00:00Z',
      until: '2026-03-08T10:00:00Z',
      cluster: 'kind-test',
      deletions: [
        {
          at: '2026-03-01T10:00:01Z',
          object: { name: 'a', uid: 'uid-a' },
          propagation: 'Foreground',
          moreDependents: 0,
        },
      ],
      held: [{ until: '2026-03-01T10:00:02Z', because: 'c' }],
      changes: [{ at: '2026-03-01T10:00:03Z' }],
      more: 0,
      unread: [],
    });
  });
});
