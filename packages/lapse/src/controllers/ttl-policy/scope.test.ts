import { describe, expect, test } from 'vitest';
import type { ClusterTTLPolicySpec } from '#api/ttlPolicy';
import { compilePolicy } from './compile.ts';
import { clusterPolicy, compiled } from './policy.testkit.ts';
import { isInScope } from './scope.ts';

type Spec = Partial<ClusterTTLPolicySpec>;

describe('scope', () => {
  const labels = (namespace: string) => (namespace === 'gone' ? undefined : { tier: namespace });
  const inScope = (spec: Spec, namespace: string | undefined, name = 'x') => {
    const result = compilePolicy(clusterPolicy(spec));
    if (result.kind === 'invalid') throw new Error('invalid');
    return isInScope(result.policy, { name, ...(namespace === undefined ? {} : { namespace }) }, labels);
  };
  test.each<[string, Spec, string | undefined, boolean]>([
    ['kube-* is excluded by default', {}, 'kube-system', false],
    ['other namespaces are included by default', {}, 'my-kube-tools', true],
    ['an empty list excludes nothing', { excludedNamespaces: [] }, 'kube-system', true],
    ['a name excludes itself', { excludedNamespaces: ['prod'] }, 'prod', false],
    ['a name does not exclude a longer name', { excludedNamespaces: ['prod'] }, 'prod-2', true],
    ['a pattern may contain several stars', { excludedNamespaces: ['a*b*c'] }, 'a-b-c', false],
    ['the parts of a pattern do not overlap', { excludedNamespaces: ['ab*ba'] }, 'aba', true],
    ['a star alone excludes all', { excludedNamespaces: ['*'] }, 'x', false],
    [
      'a pattern with many stars is matched in linear time',
      { excludedNamespaces: ['*a'.repeat(31)] },
      `${'a'.repeat(30)}b`,
      true,
    ],
    [
      'a namespace with the selected label is included',
      { namespaceSelector: { matchLabels: { tier: 'x' } } },
      'x',
      true,
    ],
    [
      'a namespace with another label is not included',
      { namespaceSelector: { matchLabels: { tier: 'x' } } },
      'y',
      false,
    ],
    [
      'an unknown namespace is not included',
      { namespaceSelector: { matchLabels: { tier: 'x' } } },
      'gone',
      false,
    ],
    ['an empty selector includes all namespaces', { namespaceSelector: {} }, 'gone', true],
    ['cluster-scoped objects are included', {}, undefined, true],
  ])('%s', (_rule, spec, namespace, expected) => {
    expect(inScope(spec, namespace)).toBe(expected);
  });
  test('a namespaced policy acts in its namespace only', () => {
    expect(
      [{ namespace: 'ci' }, { namespace: 'other' }, { namespace: 'kube-system' }, {}].map((home) =>
        isInScope(compiled(), { name: 'x', ...home }, () => ({})),
      ),
    ).toEqual([true, false, false, false]);
  });

  describe('a Namespace object', () => {
    const NAMESPACES = { target: { apiVersion: 'v1', kind: 'Namespace' } };
    test.each([
      ['kube-system', false],
      ['prod', true],
    ])('counts as being in itself: %s', (name, expected) =>
      expect(inScope(NAMESPACES, undefined, name)).toBe(expected),
    );
    test('is selected by its own labels with both selectors', () => {
      const result = compilePolicy(
        clusterPolicy({
          ...NAMESPACES,
          selector: { matchLabels: { team: 'web' } },
          namespaceSelector: { matchLabels: { tier: 'preview' } },
        }),
      );
      expect(result).toMatchObject({ policy: { labelSelector: 'team=web,tier=preview' } });
      expect(result).not.toHaveProperty('policy.namespaceLabels');
    });
    test('of another API group does not count as being in itself', () => {
      const foreign = { target: { apiVersion: 'example.com/v1', kind: 'Namespace' } };
      expect(inScope(foreign, undefined, 'kube-system')).toBe(true);
    });
  });
});
