// Whose rights a Cleaner acts with. An author with few rights gains none through a Cleaner.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { KubeEvent } from '@lapse/runtime/events/build';
import type { Cleaner } from 'lapse/api/cleaner';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect, test } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, ready, reasonOf, statusOf, target } from './kit.ts';
import { type RbacCluster, withRbac } from './rbac.ts';

/** The embedded server knows only one user. */
const AUTHOR = 'admin';
const ROBOT = 'system:serviceaccount:default:robot';
const ALL = (resource: string) => ['get', 'list', 'watch', 'delete'].map((verb) => `${verb} ${resource}`);
const reason = async ({ simulation }: RbacCluster): Promise<string | undefined> =>
  (await simulation.get<Cleaner>('cleaner/c'))?.status?.conditions?.[0]?.reason;
const message = async ({ simulation }: RbacCluster): Promise<string> =>
  (await simulation.get<Cleaner>('cleaner/c'))?.status?.conditions?.[0]?.message ?? '';
const deletes = (spec: Partial<Cleaner['spec']> = {}) =>
  cleaner({
    ttl: '1m',
    targets: [target('a', 'a', { delete: true, include: true })],
    conditions: ['true'],
    retry: { period: '10m' },
    ...spec,
  });
const secret = (name: string, data: Record<string, string>, metadata = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default', ...metadata },
  data: Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Buffer.from(v).toString('base64')])),
});

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

describe('attacks', () => {
  scenario('1. a Namespace, a ClusterRole: no Cleaner reaches beyond its namespace', async (scene) => {
    begin(scene);
    for (const reference of [
      { kind: 'namespace', name: 'kube-system' },
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'clusterrole', name: 'admin' },
    ])
      await expect(
        scene.given.object(cleaner({ targets: [{ name: 'x', reference, delete: true }] })),
      ).rejects.toThrow(/namespaced|may not be targets/);
  });

  scenario(
    '3. a forged release deletes nothing that lacks the labels and annotations of Helm, and creates nothing',
    async (scene) => {
      begin(scene);
      const hook = {
        name: 'h',
        kind: 'ClusterRoleBinding',
        events: ['pre-delete'],
        manifest:
          'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: root}\n',
      };
      await scene.given.object([
        configMap('precious'),
        secret('database', { password: 'x' }),
        storedRelease({
          name: 'forged',
          manifest: document('ConfigMap', 'precious') + document('Secret', 'database'),
        }),
        storedRelease({ name: 'rooted', manifest: '', hooks: [hook] }),
        cleaner({ ttl: '0s', helm: { release: 'forged', delete: true } }),
        cleaner({ ttl: '0s', helm: { release: 'rooted', delete: true } }, { name: 'r' }),
      ]);
      await scene.when.timePasses(minutes(1));
      await scene.then.exists('configmap/precious');
      await scene.then.exists('secret/database');
      await scene.then.isGone('clusterrolebinding/root');
      expect(await reasonOf(scene, 'cleaner/r')).toBe('HelmUninstallFailed');
    },
  );

  scenario('3. a Secret that only has the labels of a release is neither read nor purged', async (scene) => {
    begin(scene);
    await scene.given.object([
      secret('database', { release: 'x' }, { labels: { name: 'shop', owner: 'helm' } }),
      installed(configMap('m')),
      storedRelease({ manifest: document('ConfigMap', 'm') }),
      cleaner({ ttl: '0s', helm: { release: 'shop', delete: true } }),
    ]);
    await scene.then.isGone('cleaner/c');
    await scene.then.exists('secret/database');
  });

  scenario('4. a decision preset in status when it is created has no effect', async (scene) => {
    begin(scene);
    await scene.given.object(configMap('a'));
    const { uid = '' } = (await scene.then.object('configmap/a')).metadata;
    const { user } = await scene.simulation();
    const deletion = {
      generation: 1,
      evaluatedAt: '2026-01-01T00:00:00Z',
      targets: [{ group: '', version: 'v1', resource: 'configmaps', name: 'a', uid }],
    };
    const preset = { ...cleaner({ ttl: '100h' }), status: { deletion } };
    await user.create(
      {
        group: 'cleaner.vtex.dev',
        version: 'v1alpha',
        kind: 'Cleaner',
        resource: 'cleaners',
        namespaced: true,
      },
      preset,
    );
    await scene.when.timePasses(hours(1));
    await scene.then.exists('configmap/a');
    expect(await reasonOf(scene)).toBe('NotExpired');
  });

  scenario(
    '4. a record that claims rights is not executed, even from a holder of cleaners/status',
    async (scene) => {
      begin(scene);
      const role = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r', namespace: 'default' },
        rules: [],
      };
      await scene.given.object([role, cleaner({ ttl: '100h' })]);
      const { uid = '' } = (await scene.then.object('role/r')).metadata;
      for (const forged of [
        { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles', name: 'r', uid },
        {
          group: '',
          version: 'v1',
          resource: 'configmaps/../../apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
          name: 'r',
          uid,
        },
      ]) {
        await scene.when.user.status('cleaner/c', {
          deletion: { generation: 1, evaluatedAt: '2026-01-01T00:00:00Z', targets: [forged] },
        });
        await scene.when.processRestarts();
        await scene.when.timePasses(seconds(30));
        await scene.then.exists('role/r');
        expect((await statusOf(scene)).deletion).toBeUndefined();
      }
      expect(scene.then.requests('delete roles')).toEqual([]);
    },
  );

  scenario(
    '6. a period of one second causes at most one write per second, and problems are reported once',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        configMap('a'),
        cleaner({
          ttl: '0s',
          targets: [target('a', 'a', { include: true })],
          conditions: ['a.nothing.at == 1'],
          retry: { period: '1s' },
        }),
      ]);
      const before = scene.then.writes().length;
      await scene.when.timePasses(seconds(60));
      expect(scene.then.writes().length - before).toBeLessThanOrEqual(61);
      expect(await scene.then.events('cleaner/c')).toHaveLength(1);
      expect(await ready(scene)).toMatchObject({ reason: 'ConditionError' });
    },
  );
});
