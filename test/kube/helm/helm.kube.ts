// Releases installed by Helm 3 and Helm 4, uninstalled by a Cleaner and, in parallel, by `helm uninstall`: the
// remaining objects must be the same, except for the differences named here.

import { join } from 'node:path';
import { metadataOf } from '@lapse/kube/api/kind';
import { Namespace } from '@lapse/kube/api/kinds/builtin';
import { Cleaner } from 'lapse/api/cleaner';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Bed, startBed } from '../bed/bed.ts';
import { type Helm, type HelmMajor, helmFor } from './build.ts';
import { writeChart } from './chart.ts';
import { type Cluster, create, openCluster } from './cluster.ts';

let bed: Bed;
let cluster: Cluster;
beforeAll(async () => {
  bed = await startBed();
  cluster = await openCluster(bed);
});
afterAll(async () => {
  await cluster?.close();
  await bed?.stop();
});

const cleaner = (namespace: string): Cleaner => ({
  apiVersion: 'cleaner.vtex.dev/v1alpha',
  kind: 'Cleaner',
  metadata: { name: 'c', namespace },
  spec: { ttl: '0s', helm: { release: 'shop', delete: true } },
});

/** A separate namespace, another one beside it, and a release in it. */
interface Site {
  readonly namespace: string;
  readonly elsewhere: string;
  readonly helm: Helm;
  readonly chart: string;
}

async function prepare(helm: Helm, id: string): Promise<Site> {
  const namespace = `h${helm.major}-${id}`;
  const elsewhere = `${namespace}-elsewhere`;
  for (const name of [namespace, elsewhere])
    await create(cluster.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const chart = writeChart({ directory: bed.directory, id: namespace, elsewhere });
  await helm.run('install', 'shop', chart, '-n', namespace);
  return { namespace, elsewhere, helm, chart };
}

const upgrade = ({ helm, chart, namespace }: Site, ...values: string[]) =>
  helm.run('upgrade', 'shop', chart, '-n', namespace, '--set', values.join(','));

/** Helm 4 lists releases of every status by default. */
const releases = ({ helm, namespace }: Site) =>
  helm.run('list', '-n', namespace, '--no-headers', ...(helm.major === 3 ? ['--all'] : []));

/** Changes that a user may have made to objects of a release. */
async function tamper({ namespace }: Site): Promise<void> {
  await bed.kubectl('annotate', 'configmap', 'unstamped', '-n', namespace, 'meta.helm.sh/release-name-');
  await bed.kubectl('annotate', 'configmap', 'kept-live', '-n', namespace, 'helm.sh/resource-policy=keep');
}

const OWN = new Set(['configmaps/kube-root-ca.crt', 'serviceaccounts/default']);

/** All remaining objects, as text that does not depend on the site. */
async function survivors({ namespace, elsewhere }: Site): Promise<string[]> {
  const left: string[] = [];
  const { client } = cluster;
  client.discovery.invalidate();
  for (const kind of await client.discovery.all()) {
    if (!kind.verbs.includes('list') || kind.resource === 'events' || kind.resource === 'namespaces')
      continue;
    const { items } = await client.list(metadataOf(kind)).catch(() => ({ items: [] }));
    for (const { metadata } of items) {
      const here = metadata.namespace === namespace;
      const there = metadata.namespace === elsewhere;
      const wide = metadata.namespace === undefined && metadata.name!.includes(namespace);
      if (!here && !there && !wide) continue;
      const text = `${kind.resource}/${metadata.name!.replace(namespace, 'ID')}`;
      if (!OWN.has(text) && !left.includes(text)) left.push(text);
    }
  }
  return left.sort();
}

const PATIENT = { timeout: 60_000, interval: 200 };

async function cleaned(namespace: string): Promise<void> {
  await create(cluster.client, cleaner(namespace));
  const key = { namespace, name: 'c' };
  await vi.waitFor(async () => {
    const live = await cluster.client.get(Cleaner, key);
    expect(live?.status?.conditions?.[0], 'the Cleaner is still there').toBeUndefined();
    expect(live).toBeUndefined();
  }, PATIENT);
}

async function withCleaner<T>(options: object, work: () => Promise<T>): Promise<T> {
  const stop = await cluster.start({ actAs: 'controller', cleaner: options as never });
  try {
    return await work();
  } finally {
    await stop();
  }
}

/** Two equal sites; the Cleaner uninstalls one, Helm the other. */
async function pair(
  major: HelmMajor,
  id: string,
  driver: 'secret' | 'configmap' = 'secret',
): Promise<[Site, Site]> {
  const helm = await helmFor(major, bed, driver);
  return [await prepare(helm, `${id}-ours`), await prepare(helm, `${id}-theirs`)];
}

const without = (from: readonly string[], ...some: string[]) => from.filter((one) => !some.includes(one));
const plus = (from: readonly string[], ...some: string[]) => [...new Set([...from, ...some])].sort();

/** What the Cleaner keeps and Helm deletes, and why. */
const MORE_CAREFUL = {
  'configmaps/listed-kept': 'keep counts inside a List too',
  'configmaps/kept-live': 'keep counts on the live object too',
};
/** As `--no-hooks` does. */
const NO_HOOKS = { helm: { hooks: 'skip' } };

describe.each([3, 4] as const)('Helm %i', (major) => {
  const unstamped = major === 3 ? ['configmaps/unstamped'] : [];

  test('several revisions: the same objects remain', async () => {
    const [ours, theirs] = await pair(major, 'revs');
    for (const site of [ours, theirs]) {
      await upgrade(site, 'count=3');
      await upgrade(site, 'count=2', 'port=8080');
      await tamper(site);
    }
    const before = await survivors(ours);
    expect(before).toEqual(await survivors(theirs));
    expect(before).toContain('secrets/sh.helm.release.v1.shop.v3');
    await withCleaner({ helm: { hooks: 'skip', purgeIncomplete: true } }, () => cleaned(ours.namespace));
    await theirs.helm.run('uninstall', 'shop', '-n', theirs.namespace, '--no-hooks');
    const left = await survivors(theirs);
    expect(left).toContain('configmaps/kept');
    expect(left).toContain('customresourcedefinitions/gadgets.ID.example.com');
    // Helm 4.3 keeps objects without its labels, Helm 3 deletes them. Compared with Helm 3 the Cleaner is more careful.
    expect(await survivors(ours)).toEqual(plus(left, ...Object.keys(MORE_CAREFUL), ...unstamped));
    expect((await releases(ours)).trim()).toBe('');
  });

  test.each(['secret', 'configmap'] as const)(
    'an incomplete uninstall (%ss): helm list --uninstalling shows it, and helm uninstall finishes it',
    async (driver) => {
      const helm = await helmFor(major, bed, driver);
      const site = await prepare(helm, `left-${driver}`);
      const { namespace } = site;
      await upgrade(site, 'count=2');
      await bed.kubectl('annotate', 'configmap', 'unstamped', '-n', namespace, 'meta.helm.sh/release-name-');
      const key = { namespace, name: 'c' };
      await withCleaner(NO_HOOKS, async () => {
        await create(cluster.client, cleaner(namespace));
        await vi.waitFor(async () => {
          const [ready] = (await cluster.client.get(Cleaner, key))?.status?.conditions ?? [];
          expect(ready?.reason).toBe('HelmUninstallIncomplete');
          expect(ready?.message).toContain('left: ConfigMap/unstamped (not owned by the release)');
        }, PATIENT);
      });
      const left = await survivors(site);
      expect(left).toContain('configmaps/unstamped');
      expect(left).not.toContain('configmaps/plain');
      expect(left).not.toContain('configmaps/foreign');
      expect(left).not.toContain('clusterroles/web-ID');
      expect(await helm.run('list', '-n', namespace, '--uninstalling', '--short')).toBe('shop\n');
      expect(await helm.run('status', 'shop', '-n', namespace)).toContain('STATUS: uninstalling');
      expect(await helm.run('get', 'values', 'shop', '-n', namespace)).toContain('count: 2');
      expect(await helm.run('get', 'manifest', 'shop', '-n', namespace)).toContain('name: growing-1');
      await helm.run('uninstall', 'shop', '-n', namespace, '--no-hooks');
      expect((await releases(site)).trim()).toBe('');
      // After a restart the Cleaner finds no record, and completes.
      await withCleaner(NO_HOOKS, () =>
        vi.waitFor(async () => expect(await cluster.client.get(Cleaner, key)).toBeUndefined(), PATIENT),
      );
      expect((await survivors(site)).filter((one) => one.includes('sh.helm.release'))).toEqual([]);
    },
  );

  test('a failed upgrade: Helm keeps the objects of the previous revision, the Cleaner deletes them', async () => {
    const [ours, theirs] = await pair(major, 'failed');
    for (const site of [ours, theirs])
      await expect(upgrade(site, 'old=false', 'broken=true')).rejects.toThrow();
    expect(await releases(ours)).toContain('failed');
    await withCleaner(NO_HOOKS, () => cleaned(ours.namespace));
    await theirs.helm.run('uninstall', 'shop', '-n', theirs.namespace, '--no-hooks');
    const left = await survivors(theirs);
    expect(left).toContain('configmaps/only-old');
    expect(await survivors(ours)).toEqual(
      plus(without(left, 'configmaps/only-old'), 'configmaps/listed-kept'),
    );
  });

  test('a kind that is no longer served: Helm fails once its cache has expired, the Cleaner does not', async () => {
    const [ours, theirs] = await pair(major, 'unserved');
    for (const { namespace } of [ours, theirs])
      await bed.kubectl('delete', 'crd', `gadgets.${namespace}.example.com`, '--wait=true');
    await withCleaner(NO_HOOKS, () => cleaned(ours.namespace));
    const left = await survivors(ours);
    expect(left).not.toContain('configmaps/plain');
    expect(left.filter((one) => one.includes('sh.helm.release'))).toEqual([]);
    // Its cache of kinds lasts ten minutes.
    const forgetful = await helmFor(major, { ...bed, directory: join(bed.directory, 'fresh') });
    await expect(forgetful.run('uninstall', 'shop', '-n', theirs.namespace, '--no-hooks')).rejects.toThrow();
    expect(await survivors(theirs)).toContain('configmaps/plain');
    await theirs.helm.run('uninstall', 'shop', '-n', theirs.namespace, '--no-hooks');
    expect(left).toEqual(plus(await survivors(theirs), 'configmaps/listed-kept'));
  });

  test('hooks run by default: the same objects remain', async () => {
    const [ours, theirs] = await pair(major, 'hooks');
    await withCleaner({}, () => cleaned(ours.namespace));
    await theirs.helm.run('uninstall', 'shop', '-n', theirs.namespace);
    const left = await survivors(theirs);
    expect(left).toContain('configmaps/hook-pre-delete');
    expect(left).not.toContain('configmaps/hook-post-delete');
    expect(await survivors(ours)).toEqual(plus(left, 'configmaps/listed-kept'));
  });

  test('the ConfigMap driver', async () => {
    const [ours, theirs] = await pair(major, 'maps', 'configmap');
    for (const site of [ours, theirs]) await upgrade(site, 'count=2');
    expect(await survivors(ours)).toContain('configmaps/sh.helm.release.v1.shop.v2');
    await withCleaner(NO_HOOKS, () => cleaned(ours.namespace));
    await theirs.helm.run('uninstall', 'shop', '-n', theirs.namespace, '--no-hooks');
    expect(await survivors(ours)).toEqual(plus(await survivors(theirs), 'configmaps/listed-kept'));
  });
});

test('namespaces of other sites are kept', async () => {
  expect((await cluster.client.list(Namespace)).items.length).toBeGreaterThan(10);
});
