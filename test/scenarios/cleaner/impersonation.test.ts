// Service accounts named by Cleaners, and authors, within the impersonation that the operator allows Lapse.

import { minutes } from '@lapse/base/instant';
import type { Cleaner } from 'lapse/api/cleaner';
import { describe, expect, test } from 'vitest';
import { cleaner, configMap, target } from './kit.ts';
import { type RbacCluster, withRbac } from './rbac.ts';

const AUTHOR = 'admin';
const ROBOT = 'system:serviceaccount:default:robot';
const ALL = (resource: string) => ['get', 'list', 'watch', 'delete'].map((verb) => `${verb} ${resource}`);
const deletes = (spec: Partial<Cleaner['spec']> = {}) =>
  cleaner({
    ttl: '1m',
    targets: [target('a', 'a', { delete: true, include: true })],
    conditions: ['true'],
    retry: { period: '10m' },
    ...spec,
  });
const named = deletes({ serviceAccountName: 'robot' });
const allowAll = ({ rbac }: RbacCluster) => {
  rbac.allow(AUTHOR, ...ALL('configmaps'), 'impersonate serviceaccounts');
  rbac.allow(ROBOT, ...ALL('configmaps'));
};

describe('a Cleaner that names a service account while impersonation is off', () => {
  const off = { cleaner: { impersonation: 'none' } };

  test('is refused at admission, and the message says what to do', () =>
    withRbac(off, async (cluster) => {
      allowAll(cluster);
      await expect(cluster.simulation.apply(named)).rejects.toThrow(
        'set cleaner.impersonation to {namespaces: [default]} or cluster',
      );
    }));

  test('reports it in its condition if it was created earlier, and no request is sent as the account', () =>
    withRbac({ actAs: 'controller', ...off }, async (cluster) => {
      const { simulation, rbac } = cluster;
      allowAll(cluster);
      simulation.crash();
      await simulation.apply([configMap('a'), named]);
      await simulation.restart();
      await simulation.timePasses(minutes(5));
      const [ready] = (await simulation.get<Cleaner>('cleaner/c'))?.status?.conditions ?? [];
      expect(ready?.reason).toBe('Forbidden');
      expect(ready?.message).toContain('impersonation is not enabled for namespace default');
      expect(await simulation.get('configmap/a')).toBeDefined();
      expect(rbac.asked).toEqual([]);
    }));

  test('works with the rights of its author if it names no account', () =>
    withRbac(off, async (cluster) => {
      const { simulation } = cluster;
      allowAll(cluster);
      await simulation.apply([configMap('a'), deletes()]);
      await simulation.timePasses(minutes(2));
      expect(await simulation.get('configmap/a')).toBeUndefined();
    }));
});

test('impersonation in named namespaces does not cover other namespaces', () =>
  withRbac({ actAs: 'controller', cleaner: { impersonation: { namespaces: ['ci'] } } }, async (cluster) => {
    allowAll(cluster);
    await expect(cluster.simulation.apply(named)).rejects.toThrow('not enabled for namespace default');
  }));

test('actAs: impersonate-author sends reads and deletes as the verified author', () =>
  withRbac({ actAs: 'impersonate-author', cleaner: { impersonation: 'none' } }, async (cluster) => {
    const { simulation, rbac } = cluster;
    allowAll(cluster);
    await simulation.apply([configMap('a'), deletes()]);
    await simulation.timePasses(minutes(2));
    expect(await simulation.get('configmap/a')).toBeUndefined();
    expect(rbac.asked).toContain(`${AUTHOR} delete configmaps/a`);
  }));
