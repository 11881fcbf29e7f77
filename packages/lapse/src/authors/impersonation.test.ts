import type { Json } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { impersonationRefusal, parseImpersonation } from './impersonation.ts';

describe('impersonation of service accounts', () => {
  test.each<[string, Json | undefined, string, boolean]>([
    ['is off by default', undefined, 'ci', false],
    ['is off with none', 'none', 'ci', false],
    ['is on everywhere with cluster', 'cluster', 'ci', true],
    ['is on in a namespace that is named', { namespaces: ['ci', 'preview'] }, 'preview', true],
    ['is off in a namespace that is not named', { namespaces: ['ci'] }, 'prod', false],
  ])('%s', (_, value, namespace, expected) => {
    const scope = parseImpersonation(value, 'cleaner');
    const refusal = impersonationRefusal(scope, { namespace, name: 'robot' }, 'ttlPolicy');
    expect(refusal === undefined).toBe(expected);
  });

  test.each<[string, Json]>([
    ['another word', 'everything'],
    ['no namespaces', { namespaces: [] }],
    ['a name that no namespace can have', { namespaces: ['*'] }],
    ['a field beside namespaces', { namespaces: ['ci'], cluster: true }],
  ])('refuses %s', (_, value) => {
    expect(() => parseImpersonation(value, 'cleaner')).toThrow(
      'cleaner.impersonation: must be none, cluster',
    );
  });

  test('the error message says what the user and the operator can do', () => {
    const text = impersonationRefusal({ kind: 'none' }, { namespace: 'ci', name: 'robot' }, 'ttlPolicy');
    expect(text).toContain('leave out serviceAccountName');
    expect(text).toContain('ttlPolicy.impersonation to {namespaces: [ci]} or cluster');
  });
});
