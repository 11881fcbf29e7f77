// A detach acts with the rights of its author, who must be allowed to delete the claim.

import { seconds } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { claimProtection } from '@lapse/simulation/controllers/volumeProtection/controllers';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import type { RequestObject } from 'lapse/api/storage/request';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { describe, expect, test } from 'vitest';
import { Rbac } from '../cleaner/rbac.ts';
import { composeFamilies, findFamily } from '../compose.ts';
import { capture, claim, detach, usualObjects, volume } from './kit.ts';

/** The embedded server knows only one user. */
const AUTHOR = 'admin';
const RIGHT = 'delete persistentvolumeclaims';
const AUTHOR_ANNOTATION = 'lapse.dev/author';
const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' };
const OBJECTS: KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lapse-system' } },
  ...usualObjects().slice(0, 2),
  volume('pv-data', { claimRef }),
  claim(),
];

interface RbacCluster {
  readonly rbac: Rbac;
  readonly simulation: Simulation;
  readonly ended: () => Promise<string | undefined>;
  readonly isClaimKept: () => Promise<boolean>;
}

async function withRbac(
  story: (cluster: RbacCluster) => Promise<void>,
  configuration: JsonObject = {},
): Promise<void> {
  const rbac = new Rbac();
  const family = findFamily('volume-capture');
  const compose = composeFamilies({ families: [family], controllers: [], configuration, gates: {} });
  const simulation = await simulate({
    compose: rbac.around(compose),
    kinds: [...family.kinds, ...STOCK_SNAPSHOT_KINDS],
    simulatedControllers: [...simulatedControllersNamed(['csi-snapshotter']), claimProtection()],
  });
  const ended = async () => {
    const ready = (await simulation.get<RequestObject>('vcr/nightly'))?.status?.conditions?.[0];
    return ready && `${ready.status} ${ready.reason}: ${ready.message}`;
  };
  const isClaimKept = async () => {
    const found = await simulation.get('pvc/data');
    return found !== undefined && found.metadata.deletionTimestamp === undefined;
  };
  try {
    await simulation.apply(OBJECTS);
    await story({ rbac, simulation, ended, isClaimKept });
  } finally {
    await simulation.close();
  }
}

describe('detach', () => {
  test('deletes the claim if its author may delete the claim', () =>
    withRbac(async ({ rbac, simulation, ended, isClaimKept }) => {
      rbac.allow(AUTHOR, RIGHT);
      await simulation.apply(detach());
      expect(await ended()).toContain('True Completed');
      expect(await isClaimKept()).toBe(false);
    }));

  test('signs a request with a generated name too', () =>
    withRbac(async ({ rbac, simulation, isClaimKept }) => {
      rbac.allow(AUTHOR, RIGHT);
      const { name: _, ...metadata } = detach().metadata;
      await simulation.user.create(VolumeCaptureRequest, {
        ...detach(),
        metadata: { ...metadata, generateName: 'moved-' },
      });
      await simulation.timePasses(seconds(2));
      expect(await isClaimKept()).toBe(false);
    }));

  test('is refused at admission if its author may not delete the claim', () =>
    withRbac(async ({ simulation, isClaimKept }) => {
      await expect(simulation.apply(detach())).rejects.toThrow(
        'admin may not delete persistentvolumeclaims data in namespace default',
      );
      await simulation.timePasses(seconds(2));
      expect(await isClaimKept()).toBe(true);
    }));

  test('keeps the claim if its author lost the right after admission', () =>
    withRbac(async ({ rbac, simulation, ended, isClaimKept }) => {
      rbac.allow(AUTHOR, RIGHT);
      simulation.faults.justBefore('get persistentvolumeclaims', () => rbac.revoke(AUTHOR));
      await simulation.apply(detach());
      await simulation.timePasses(seconds(2));
      expect(await ended()).toContain('False RBACDenied: admin may not delete persistentvolumeclaims data');
      expect(await isClaimKept()).toBe(true);
    }));

  test.each([
    ['without an author', {}],
    ['with a forged author', { [AUTHOR_ANNOTATION]: '{"groups":[],"seal":"x","username":"admin"}' }],
  ])('a request that was stored %s fails, reports what to do, and keeps the claim', (_name, annotations) =>
    withRbac(async ({ rbac, simulation, ended, isClaimKept }) => {
      rbac.allow(AUTHOR, RIGHT);
      simulation.crash();
      await simulation.apply(detach('nightly', {}, { annotations }));
      await simulation.restart();
      await simulation.timePasses(seconds(2));
      expect(await ended()).toContain(
        'False RBACDenied: VolumeCaptureRequest default/nightly has no verified author',
      );
      expect(await ended()).toContain('create it again while the Lapse webhook is running');
      expect(await isClaimKept()).toBe(true);
    }),
  );

  test('does not mark a released volume if its author may not delete its claim', () =>
    withRbac(async ({ rbac, simulation, ended }) => {
      rbac.allow(AUTHOR, RIGHT);
      await simulation.userClient.delete('pvc/data');
      await simulation.timePasses(seconds(1));
      simulation.faults.justBefore('get persistentvolumeclaims', () => rbac.revoke(AUTHOR));
      await simulation.apply(
        detach('nightly', {}, { annotations: { 'storage.deckhouse.io/detach-pv-name': 'pv-data' } }),
      );
      await simulation.timePasses(seconds(2));
      expect(await ended()).toContain('False RBACDenied');
      expect((await simulation.get('pv/pv-data'))?.metadata.ownerReferences ?? []).toEqual([]);
    }));

  test('needs no author with actAs: controller', () =>
    withRbac(
      async ({ simulation, ended }) => {
        await simulation.apply(detach());
        expect(await ended()).toContain('True Completed');
      },
      { actAs: 'controller' },
    ));
});

test('a snapshot does not need the right to delete the claim', () =>
  withRbac(async ({ simulation, ended }) => {
    await simulation.apply(capture());
    await simulation.timePasses(seconds(2));
    expect(await ended()).toContain('True Completed');
    expect((await simulation.get('vcr/nightly'))?.metadata.annotations?.[AUTHOR_ANNOTATION]).toBeUndefined();
  }));
