import { instant, plus, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { describe, expect, test } from 'vitest';
import type { Cleaner } from '#api/cleaner';
import { cleaner } from './cleaner.testkit.ts';
import { buildStatus } from './status.ts';
import { bindingsOf, type Found, fingerprint, missingOf, shownOf, withoutSecrets } from './targets.ts';

const KIND = { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments' } as ServedKind;
const object = (name: string, version = '1'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, uid: `uid-${name}`, resourceVersion: version },
});
const found = (name: string, named: boolean, objects: KubeObject[], included = true): Found => ({
  target: {
    name,
    reference: { kind: 'x', ...(named ? { name: 'n' } : { matchLabels: { a: 'b' } }) },
    delete: false,
    included,
  },
  kind: KIND,
  objects,
});

describe('the input of conditions', () => {
  test('is an object for a name, a List for labels, and nothing for targets that are not included', () => {
    const [a, b] = [object('a'), object('b')];
    expect(
      bindingsOf([found('one', true, [a]), found('many', false, [a, b]), found('not', true, [a], false)]),
    ).toEqual({
      one: a,
      many: { apiVersion: 'apps/v1', kind: 'DeploymentList', metadata: {}, items: [a, b] },
    });
  });
  test('has an empty List as a value and reports a missing object', () => {
    const none = [found('one', true, []), found('many', false, []), found('not', true, [], false)];
    expect(bindingsOf(none)).toMatchObject({ many: { items: [] } });
    expect(missingOf(none).map(({ target }) => target.name)).toEqual(['one']);
  });
  test('contains Secrets without their data', () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: {
        name: 's',
        annotations: { a: 'b', 'kubectl.kubernetes.io/last-applied-configuration': 'x' },
        managedFields: [{}],
      },
      data: { a: 'b' },
      stringData: { a: 'b' },
    };
    expect(withoutSecrets.project(secret)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: { name: 's', annotations: { a: 'b' } },
    });
  });
});

test('has a fingerprint that changes with the spec, with resourceVersions, with members, and with nothing else', () => {
  const base = [found('a', false, [object('x'), object('y')])];
  const print = fingerprint(1, base);
  expect(
    fingerprint(1, [found('a', false, [object('y'), object('x')]), found('n', true, [object('z')], false)]),
  ).toBe(print);
  for (const other of [
    fingerprint(2, base),
    fingerprint(1, [found('a', false, [object('x'), object('y', '2')])]),
    fingerprint(1, [found('a', false, [object('x')])]),
    fingerprint(1, [found('b', false, [object('x'), object('y')])]),
  ])
    expect(other).not.toBe(print);
});

test('is shown in status sorted, without duplicates, at most 200 objects, and with the total count', () => {
  const many = Array.from({ length: 300 }, (_, i) => object(`o${i}`));
  const shown = shownOf([found('a', false, many), found('b', false, many.slice(0, 10))]);
  expect(shown.resolvedTargets).toHaveLength(200);
  expect(shown.resolvedTargetCount).toBe(300);
  expect(shown.resolvedTargets[0]).toBe('o0.deployments.apps/v1');
  expect([...shown.resolvedTargets].sort()).toEqual(shown.resolvedTargets);
});

describe('status', () => {
  const now = instant(1_767_225_600_000);
  test('changes the transition time of a condition only with its status, and truncates messages', () => {
    const first = buildStatus(cleaner(), { reason: 'NotExpired', message: 'x'.repeat(5000) }, now);
    expect(first.conditions?.[0]).toMatchObject({
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    expect(first.conditions?.[0]?.message).toHaveLength(1000);
    const later = { ...cleaner(), status: first } as Cleaner;
    const waiting = buildStatus(
      later,
      { reason: 'WaitingForConditions', message: '' },
      plus(now, seconds(60)),
    );
    expect(waiting.conditions?.[0]?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
    const failed = buildStatus(later, { reason: 'ConditionError', message: '' }, plus(now, seconds(60)));
    expect(failed.conditions?.[0]).toMatchObject({
      status: 'False',
      lastTransitionTime: '2026-01-01T00:01:00Z',
    });
  });
  test('conditions of other writers are preserved', () => {
    const theirs = {
      type: 'Audited',
      status: 'True',
      reason: 'Ok',
      message: 'by another controller',
    } as const;
    const before = { ...cleaner(), status: { conditions: [theirs] } } as Cleaner;
    const { conditions } = buildStatus(before, { reason: 'NotExpired', message: '' }, now);
    expect(conditions?.map(({ type }) => type)).toEqual(['Audited', 'Ready']);
    expect(conditions?.[0]).toEqual(theirs);
  });
  test('removes fields that the report does not contain', () => {
    expect(Object.keys(buildStatus(cleaner(), { reason: 'InvalidSpec', message: '' }, now)).sort()).toEqual([
      'conditions',
      'observedGeneration',
    ]);
  });
});
