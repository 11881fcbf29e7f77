// Cleaners act with the rights of their author: who the author is, and what is reviewed when.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { Cleaner } from 'lapse/api/cleaner';
import { describe, expect, test } from 'vitest';
import { cleaner, configMap, target } from './kit.ts';
import { withRbac } from './rbac.ts';
import { ALL, AUTHOR, deletes, message, ROBOT, reason, secret } from './rightsKit.ts';

describe('authors', () => {
  test('the rights of an author with all rights are reviewed when the Cleaner is applied and again when it deletes', () =>
    withRbac({}, async ({ rbac, simulation }) => {
      rbac.allow(AUTHOR, ...ALL('configmaps'));
      await simulation.apply([configMap('a'), deletes()]);
      await simulation.timePasses(minutes(2));
      expect(await simulation.get('configmap/a')).toBeUndefined();
    }));

  test('rights revoked between creation and trigger: Forbidden, nothing deleted', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, ...ALL('configmaps'));
      await simulation.apply([configMap('a'), deletes()]);
      rbac.revoke(AUTHOR);
      rbac.allow(AUTHOR, 'get configmaps', 'watch configmaps');
      await simulation.timePasses(minutes(5));
      expect(await reason(cluster)).toBe('Forbidden');
      expect(await simulation.get('configmap/a')).toBeDefined();
    }));

  test.each<[string, Partial<Cleaner['spec']>, string[], string]>([
    [
      'to delete what they may not delete',
      {},
      ['get configmaps', 'watch configmaps'],
      'may not delete configmaps',
    ],
    ['to read targets they may not get', {}, ['delete configmaps'], 'may not get configmaps'],
    [
      'to read targets they may not list',
      { targets: [target('a', { x: 'y' }, { include: true })] },
      ['get configmaps'],
      'may not list configmaps',
    ],
    [
      'to read Secrets through conditions',
      { targets: [{ name: 's', reference: { kind: 'secret', name: 's' }, includeWhenEvaluating: true }] },
      ALL('configmaps'),
      'may not get secrets',
    ],
    [
      'to uninstall releases without a right to Secrets or ConfigMaps',
      { targets: [], conditions: [], helm: { release: 'shop', delete: true } },
      ['get configmaps'],
      'may not list secrets',
    ],
    [
      'to use an account they may not act as',
      { serviceAccountName: 'robot' },
      ALL('configmaps'),
      'may not impersonate serviceaccounts robot',
    ],
  ])('an author who wants %s is refused at admission', (_, spec, rights, words) =>
    withRbac({}, async ({ rbac, simulation }) => {
      rbac.allow(AUTHOR, ...rights);
      await expect(simulation.apply(deletes(spec))).rejects.toThrow(words);
    }),
  );

  test('a Cleaner that was stored while no webhook ran has no author, whatever its annotation says', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, ...ALL('configmaps'), 'impersonate serviceaccounts');
      rbac.allow(ROBOT, ...ALL('configmaps'));
      await simulation.apply([configMap('a'), deletes()]);
      const sealed = (await simulation.get('cleaner/c'))?.metadata.annotations?.['lapse.dev/author'] ?? '';
      expect(sealed).toContain(AUTHOR);
      await simulation.delete('cleaner/c');
      simulation.crash();
      // The signature of another spec, and a named account.
      for (const spec of [{ ttl: '0s' }, { serviceAccountName: 'robot' }]) {
        const forged = deletes(spec);
        forged.metadata.annotations = { 'lapse.dev/author': sealed };
        await simulation.apply(forged);
        await simulation.restart();
        await simulation.timePasses(minutes(5));
        expect(await reason(cluster)).toBe('Forbidden');
        expect(await simulation.get('configmap/a')).toBeDefined();
        simulation.crash();
      }
    }));

  test('any user may change labels without becoming the author', () =>
    withRbac({}, async ({ rbac, simulation }) => {
      rbac.allow(AUTHOR, ...ALL('configmaps'));
      await simulation.apply([configMap('a'), deletes()]);
      const author = async () =>
        (await simulation.get('cleaner/c'))?.metadata.annotations?.['lapse.dev/author'];
      const before = await author();
      rbac.revoke(AUTHOR);
      await simulation.patch('cleaner/c', {
        metadata: { labels: { x: 'y' }, annotations: { 'lapse.dev/author': '{}' } },
      });
      expect(await author()).toBe(before);
      await expect(simulation.patch('cleaner/c', { spec: { ttl: '0s' } })).rejects.toThrow('may not');
    }));

  test('a Cleaner without an author works once a user with the rights claims it', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      simulation.crash();
      await simulation.apply([configMap('a'), deletes()]);
      await simulation.restart();
      await simulation.timePasses(minutes(2));
      expect(await reason(cluster)).toBe('Forbidden');
      const claim = () =>
        simulation.patch('cleaner/c', { metadata: { annotations: { 'lapse.dev/author': 'claim' } } });
      await expect(claim()).rejects.toThrow('may not get configmaps');
      rbac.allow(AUTHOR, ...ALL('configmaps'));
      await claim();
      await simulation.timePasses(seconds(1));
      expect(await simulation.get('configmap/a')).toBeUndefined();
    }));

  test('deletes nothing after the signature of its author expired, until it is claimed', () =>
    withRbac({ authors: { sealLifetime: '1h' } }, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, ...ALL('configmaps'));
      await simulation.apply([configMap('a'), deletes({ ttl: '2h' })]);
      await simulation.timePasses(hours(3));
      expect(await reason(cluster)).toBe('AuthorExpired');
      expect(await message(cluster)).toMatch(
        /^the signature of its author admin expired at .*; to renew it, run: kubectl annotate -n default cleaner c /,
      );
      expect(await simulation.get('configmap/a')).toBeDefined();
      await simulation.patch('cleaner/c', { metadata: { annotations: { 'lapse.dev/author': 'claim' } } });
      await simulation.timePasses(seconds(1));
      expect(await simulation.get('configmap/a')).toBeUndefined();
    }));

  test('status names no objects that the author may not see', () =>
    withRbac({}, async ({ rbac, simulation }) => {
      const reference = { kind: 'secret', matchLabels: { tier: 'prod' } };
      await simulation.apply([
        secret('root-token', {}, { labels: { tier: 'prod' } }),
        cleaner({
          ttl: '0s',
          targets: [{ name: 's', reference }],
          conditions: ['false'],
          retry: { period: '1m' },
        }),
      ]);
      const shown = async () => (await simulation.get<Cleaner>('cleaner/c'))?.status?.resolvedTargets ?? [];
      await simulation.timePasses(minutes(2));
      expect(await shown()).toEqual([]);
      rbac.allow(AUTHOR, 'list secrets');
      await simulation.timePasses(minutes(2));
      expect(await shown()).toEqual([expect.stringContaining('root-token')]);
    }));
});
