// Cleaners that act as a service account, and the data of Secrets that they read.

import { minutes } from '@lapse/base/instant';
import { KubeEvent } from '@lapse/runtime/events/build';
import type { Cleaner } from 'lapse/api/cleaner';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect, test } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, statusOf, target } from './kit.ts';
import { withRbac } from './rbac.ts';
import { ALL, AUTHOR, deletes, message, ROBOT, reason, secret } from './rightsKit.ts';

describe('30. service accounts', () => {
  test('without the right to delete: Forbidden and nothing deleted; once granted, it succeeds at the next period', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, 'impersonate serviceaccounts');
      rbac.allow(ROBOT, 'get configmaps', 'watch configmaps');
      await simulation.apply([configMap('a'), deletes({ serviceAccountName: 'robot' })]);
      await simulation.timePasses(minutes(2));
      expect(await reason(cluster)).toBe('Forbidden');
      expect(await message(cluster)).toContain(`${ROBOT} may not delete configmaps`);
      expect((await simulation.get<Cleaner>('cleaner/c'))?.status?.deletion).toBeUndefined();
      rbac.allow(ROBOT, 'delete configmaps');
      await simulation.timePasses(minutes(10));
      expect(await simulation.get('configmap/a')).toBeUndefined();
      expect(await simulation.get('cleaner/c')).toBeUndefined();
      expect(rbac.asked).toEqual([`${ROBOT} get configmaps/a`, `${ROBOT} delete configmaps/a`]);
    }));

  test('a refusal during the deletion: Forbidden, and the recorded list is completed when the right is granted again', () =>
    withRbac({ actAs: 'controller' }, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(ROBOT, ...ALL('configmaps'), ...ALL('secrets'));
      await simulation.apply([
        configMap('a'),
        secret('s', { x: 'y' }),
        deletes({
          serviceAccountName: 'robot',
          conditions: [],
          targets: [
            target('a', 'a', { delete: true }),
            { name: 's', reference: { kind: 'secret', name: 's' }, delete: true },
          ],
        }),
      ]);
      simulation.faults.justBefore('delete configmaps', () => rbac.revoke(ROBOT));
      await simulation.timePasses(minutes(2));
      expect(await reason(cluster)).toBe('Forbidden');
      expect(await simulation.get('secret/s')).toBeDefined();
      rbac.allow(ROBOT, ...ALL('configmaps'), ...ALL('secrets'));
      await simulation.timePasses(minutes(10));
      expect(await simulation.get('secret/s')).toBeUndefined();
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));

  test('Helm storage is read and purged, and objects are deleted, only as the account', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, 'impersonate serviceaccounts');
      rbac.allow(
        ROBOT,
        'list secrets',
        'delete secrets',
        'get configmaps',
        'delete configmaps',
        'list configmaps',
      );
      await simulation.apply([
        installed(configMap('m')),
        storedRelease({ manifest: document('ConfigMap', 'm') }),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true }, serviceAccountName: 'robot' }),
      ]);
      await simulation.timePasses(minutes(2));
      expect(await simulation.get('cleaner/c')).toBeUndefined();
      const touched = simulation.requests.filter(
        ({ resource }) => resource === 'secrets' || resource === 'configmaps',
      );
      // Every one of them went through the account's client. The one extra request is for the key of the author's
      // signature.
      expect(
        touched.filter(({ path }) => !path.includes('lapse-author-key') && !path.includes('lapse-system')),
      ).toHaveLength(rbac.asked.length);
      expect(rbac.asked.every((line) => line.startsWith(ROBOT))).toBe(true);
    }));

  test("the operator's default account is used if a Cleaner names no account", () =>
    withRbac({ cleaner: { defaultServiceAccount: 'robot' } }, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(ROBOT, ...ALL('configmaps'));
      await simulation.apply([configMap('a'), deletes()]);
      await simulation.timePasses(minutes(2));
      expect(await simulation.get('configmap/a')).toBeUndefined();
      expect(rbac.asked).toContain(`${ROBOT} delete configmaps/a`);
    }));

  test('with a default account, a Cleaner without an author completes', () =>
    withRbac({ cleaner: { defaultServiceAccount: 'robot', requireAuthor: true } }, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(ROBOT, ...ALL('configmaps'));
      simulation.crash();
      await simulation.apply([configMap('a'), deletes()]);
      await simulation.restart();
      await simulation.timePasses(minutes(2));
      expect(await simulation.get('configmap/a')).toBeUndefined();
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));

  scenario('data of Secrets never appears in status, events or conditions', async (scene) => {
    begin(scene);
    const applied = {
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":"hunter2"}' },
    };
    await scene.given.object([configMap('a'), secret('s', { password: 'hunter2' }, applied)]);
    await scene.when.user.apply(
      cleaner({
        ttl: '0s',
        targets: [
          { name: 's', reference: { kind: 'secret', name: 's' }, includeWhenEvaluating: true, delete: true },
        ],
        conditions: [
          '!has(s.data) && !has(s.stringData)',
          's.data.password == "aHVudGVyMg=="',
          'has(s.metadata.annotations) && size(s.metadata.annotations) > 0',
        ],
        retry: { period: '1h' },
      }),
    );
    const { evaluations } = await statusOf(scene);
    expect(evaluations?.map(({ outcome }) => outcome)).toEqual(['true', 'error', 'false']);
    const { user, registry } = await scene.simulation();
    const everything = JSON.stringify([
      await statusOf(scene),
      (await user.list(KubeEvent)).items,
      registry.text(),
    ]);
    for (const word of ['hunter2', 'aHVudGVyMg']) expect(everything).not.toContain(word);
  });
});
