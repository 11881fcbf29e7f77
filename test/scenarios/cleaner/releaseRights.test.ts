// A Helm release is uninstalled with the rights of the author: its objects, its records and its hooks.

import { minutes } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect, test } from 'vitest';
import { cleaner, configMap } from './kit.ts';
import { type RbacCluster, withRbac } from './rbac.ts';
import { AUTHOR, message, reason } from './rightsKit.ts';

describe('the release of an author', () => {
  test('objects of a release are deleted only if the author may delete them', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, 'list secrets', 'delete secrets');
      await simulation.apply([
        installed(configMap('m')),
        storedRelease({ manifest: document('ConfigMap', 'm') }),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
      ]);
      await simulation.timePasses(minutes(2));
      expect(await reason(cluster)).toBe('HelmUninstallIncomplete');
      expect(await message(cluster)).toContain('admin may not delete configmaps m in namespace default');
      expect(await simulation.get('configmap/m')).toBeDefined();
    }));

  test('records of a release in ConfigMaps are purged only if the author may delete ConfigMaps', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, 'list secrets', 'delete secrets', 'list configmaps');
      await simulation.apply([
        storedRelease({ manifest: '' }, 'configmap'),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
      ]);
      await simulation.timePasses(minutes(2));
      expect(await simulation.get('configmap/sh.helm.release.v1.shop.v1')).toBeDefined();
      expect(await message(cluster)).toContain('admin may not delete configmaps');
      rbac.allow(AUTHOR, 'delete configmaps');
      await simulation.timePasses(minutes(10));
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));

  test('ConfigMaps are not searched for records if the author may not list them', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, 'list secrets', 'delete secrets', 'delete configmaps');
      await simulation.apply([
        storedRelease({ manifest: '' }, 'configmap'),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
      ]);
      await simulation.timePasses(minutes(2));
      expect(await reason(cluster)).toBe('Forbidden');
      expect(await message(cluster)).toContain('may not list configmaps');
      expect(
        simulation.requests.filter(({ resource, verb }) => resource === 'configmaps' && verb === 'list'),
      ).toEqual([]);
    }));

  test('records in ConfigMaps need no right to Secrets', () =>
    withRbac({}, async ({ rbac, simulation }) => {
      rbac.allow(AUTHOR, 'list configmaps', 'delete configmaps');
      await simulation.apply([
        storedRelease({ manifest: '' }, 'configmap'),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
      ]);
      await simulation.timePasses(minutes(2));
      expect(await simulation.get('configmap/sh.helm.release.v1.shop.v1')).toBeUndefined();
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));

  test('a release that is not in ConfigMaps is not taken for absent if the author may not read Secrets', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, 'list configmaps', 'delete configmaps');
      await simulation.apply([
        storedRelease({ manifest: '' }),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
      ]);
      await simulation.timePasses(minutes(2));
      expect(await reason(cluster)).toBe('Forbidden');
      expect(await message(cluster)).toContain('may not list secrets');
      expect(await simulation.get('secret/sh.helm.release.v1.shop.v1')).toBeDefined();
    }));

  test('records in Secrets need no right to ConfigMaps, not even to find out that they are purged', () =>
    withRbac({}, async ({ rbac, simulation }) => {
      rbac.allow(AUTHOR, 'list secrets', 'delete secrets');
      await simulation.apply([
        storedRelease({ manifest: '' }),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
      ]);
      simulation.faults.answer('delete cleaners c', 500);
      await simulation.timePasses(minutes(2));
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));

  test('rights in a namespace grant nothing on cluster-scoped objects', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      // As a Role with wildcards grants.
      rbac.allow(AUTHOR, ...['list', 'delete', 'get'].map((verb) => `${verb} secrets in default`));
      rbac.allow(AUTHOR, 'delete namespaces in default');
      const other = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } };
      await simulation.apply([
        installed(other),
        storedRelease({ manifest: document('Namespace', 'other') }),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
      ]);
      await simulation.timePasses(minutes(2));
      expect((await simulation.get('namespace/other'))?.metadata.deletionTimestamp).toBeUndefined();
      expect(await message(cluster)).toContain('admin may not delete namespaces other');
      rbac.allow(AUTHOR, 'delete namespaces');
      await simulation.timePasses(minutes(10));
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));

  describe('hooks of a release do only what the author may do', () => {
    const HELM = ['list secrets', 'delete secrets', 'delete configmaps', 'get configmaps'];
    const manifest = 'apiVersion: v1\nkind: Service\nmetadata: {name: h}\nspec: {ports: [{port: 80}]}\n';
    const hook = { name: 'h', kind: 'Service', events: ['pre-delete'], manifest };
    const apply = (
      simulation: RbacCluster['simulation'],
      policies: readonly string[],
      more: KubeObject[] = [],
    ) =>
      simulation.apply([
        ...more,
        installed(configMap('m')),
        storedRelease({
          manifest: document('ConfigMap', 'm'),
          hooks: [{ ...hook, delete_policies: policies }],
        }),
        cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
      ]);

    test('an object that the author may not create is not created', () =>
      withRbac({}, async (cluster) => {
        const { rbac, simulation } = cluster;
        rbac.allow(AUTHOR, ...HELM);
        await apply(simulation, []);
        await simulation.timePasses(minutes(2));
        expect(await simulation.get('service/h')).toBeUndefined();
        expect(await message(cluster)).toContain('admin may not create services in namespace default');
        expect(await simulation.get('configmap/m')).toBeDefined();
        rbac.allow(AUTHOR, 'create services', 'delete services');
        await simulation.timePasses(minutes(10));
        expect(await simulation.get('cleaner/c')).toBeUndefined();
      }));

    test('an existing object that the author may not delete is not replaced', () =>
      withRbac({}, async (cluster) => {
        const { rbac, simulation } = cluster;
        rbac.allow(AUTHOR, ...HELM, 'create services');
        const theirs = {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'h', namespace: 'default' },
          spec: { ports: [{ port: 80 }] },
        };
        await apply(simulation, ['before-hook-creation'], [theirs]);
        const uid = (await simulation.get('service/h'))?.metadata.uid;
        await simulation.timePasses(minutes(2));
        expect((await simulation.get('service/h'))?.metadata.uid).toBe(uid);
        expect(await message(cluster)).toContain('admin may not delete services h in namespace default');
      }));
  });
});
