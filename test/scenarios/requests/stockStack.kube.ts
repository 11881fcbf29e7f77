// Captures and restores with the stock snapshot CRDs on a real Kubernetes: the real volume binder, protection and garbage
// collector, real RBAC, and the simulated CSI controllers of one driver.

import { seconds } from '@lapse/base/instant';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import { SimulatedDriver } from '@lapse/simulation/csi/driver';
import { csiProvisioner } from '@lapse/simulation/csi/provisioner';
import { snapshotController } from '@lapse/simulation/csi/snapshotController';
import { csiSnapshotter } from '@lapse/simulation/csi/snapshotter';
import type { RequestObject } from 'lapse/api/storage/request';
import type { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, eventually, startCluster } from './cluster.testkit.ts';
import { capture, claim, DRIVER, detach, restore, snapshotClass, storageClass } from './kit.ts';

describe.each(['VolumeSnapshotContent', 'VolumeSnapshot'])('snapshot.via: %s', (via) => {
  const driver = new SimulatedDriver(DRIVER);
  let cluster: Cluster;
  beforeAll(async () => {
    const configuration = {
      actAs: 'controller',
      requestTTL: { ttl: '1h' },
      snapshot: { via },
      detach: { clearClaimRef: true, retention: { mode: 'FollowObjectWithTTL', ttl: '2s' } },
    };
    cluster = await startCluster(configuration, [], {
      kubeControllers: ['persistentvolume-binder-controller'],
      storage: [...csiProvisioner(driver), ...snapshotController(), csiSnapshotter({ driver })],
    });
    await cluster.userClient.apply([snapshotClass(), storageClass()]);
    await bound('data');
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  const get = <T extends KubeObject>(ref: string) => cluster.userClient.get<T>(ref);
  const present = async <T extends KubeObject>(ref: string): Promise<T> => {
    const found = await get<T>(ref);
    if (found === undefined) throw new Error(`${ref} does not exist`);
    return found;
  };
  const gone = (ref: string) => eventually(async () => expect(await get(ref)).toBeUndefined());
  const ended = <T extends RequestObject>(ref: string, how: string) =>
    eventually(async () => {
      const request = await present<T>(ref);
      const ready = request.status?.conditions?.[0];
      expect(`${ready?.status} ${ready?.reason}: ${ready?.message}`).toContain(`${how}: `);
      return request;
    }, seconds(120));
  const unbound = (name: string, more: object = {}): KubeObject => {
    const { status: _, ...made } = claim(name, { volumeName: undefined, ...more }) as PersistentVolumeClaim;
    return made;
  };
  const isBound = (name: string) =>
    eventually(async () => {
      const found = await present<PersistentVolumeClaim>(`pvc/${name}`);
      expect(found.status?.phase).toBe('Bound');
      return found.spec!.volumeName!;
    });
  /** A claim that the driver provisioned. Returns its volume. */
  async function bound(name: string): Promise<string> {
    await cluster.userClient.apply(unbound(name));
    return isBound(name);
  }
  const captureData = async (name: string) => {
    await cluster.userClient.create(capture(name));
    const { status } = await ended<VolumeCaptureRequest>(`vcr/${name}`, 'True Completed');
    const { kind, name: content } = status!.dataRef!;
    return { kind, name: content };
  };

  test('a snapshot is taken, and deleted from the storage system with its request', async () => {
    const source = await captureData('nightly');
    expect(driver.snapshots).toHaveLength(1);
    const { spec } = await present<VolumeSnapshotContent>(`vsc/${source.name}`);
    expect(spec?.volumeSnapshotRef?.namespace).toBe('default');
    await cluster.userClient.delete('vcr/nightly');
    await gone(`vsc/${source.name}`);
    expect(driver.snapshots).toEqual([]);
  });

  test('an error of the driver is retried', async () => {
    const error = { code: 'Unavailable', message: 'controller is restarting' } as const;
    driver.inject({ method: 'CreateSnapshot', times: 2, error });
    const source = await captureData('retried');
    await cluster.userClient.delete('vcr/retried');
    await gone(`vsc/${source.name}`);
  });

  test('a capture is restored as a new claim, which the volume binder binds', async () => {
    const sourceRef = await captureData('kept');
    await cluster.userClient.create(restore('back', { sourceRef }));
    const { metadata } = await ended('vrr/back', 'True Completed');
    const volume = await present<PersistentVolume>(`pv/${await isBound('restored')}`);
    expect(driver.volumes.get(volume.spec!.csi!.volumeHandle)?.from).toBe(driver.snapshots[0]);
    await gone(`volumesnapshot/restore-${metadata.uid}`);
    await gone(`vsc/restore-${metadata.uid}`);
    await cluster.userClient.delete('vrr/back');
    await cluster.userClient.delete('vcr/kept');
    await gone(`vsc/${sourceRef.name}`);
    expect((await present('pvc/restored')).metadata.ownerReferences).toBeUndefined();
    expect(driver.snapshots).toEqual([]);
  });

  test('a restore into a storage class that does not exist creates nothing', async () => {
    const sourceRef = await captureData('unused');
    const spec = { sourceRef, targetPVCName: 'never', storageClassName: 'none' };
    await cluster.userClient.create(restore('nowhere', spec));
    await ended('vrr/nowhere', 'False NotFound');
    expect(await get('pvc/never')).toBeUndefined();
    await cluster.userClient.delete('vcr/unused');
    await gone(`vsc/${sourceRef.name}`);
  });

  /** A volume that is detached from its claim of this name. */
  const detached = async (name: string): Promise<string> => {
    const volume = await bound(name);
    await cluster.userClient.patch(`pv/${volume}`, { spec: { persistentVolumeReclaimPolicy: 'Retain' } });
    await cluster.userClient.create(detach(name, { persistentVolumeClaimRef: { name } }));
    await ended(`vcr/${name}`, 'True Completed');
    await gone(`pvc/${name}`);
    await eventually(async () =>
      expect((await present<PersistentVolume>(`pv/${volume}`)).status?.phase).toBe('Available'),
    );
    return volume;
  };
  const withoutOwner = (volume: string) =>
    eventually(async () =>
      expect((await present(`pv/${volume}`)).metadata.ownerReferences ?? []).toEqual([]),
    );

  test('a detached volume is bound only by a claim of the same name, and is then kept', async () => {
    const volume = await detached('moved');
    await cluster.bed.kubectl('create', 'namespace', 'other');
    const foreign = unbound('moved', { volumeName: volume });
    await cluster.userClient.apply({ ...foreign, metadata: { name: 'moved', namespace: 'other' } });
    const elsewhere = unbound('elsewhere', { volumeName: volume });
    await cluster.userClient.apply(elsewhere);
    await cluster.userClient.apply(unbound('moved', { volumeName: volume }));
    expect(await isBound('moved')).toBe(volume);
    await withoutOwner(volume);
    const { status } = await present<PersistentVolumeClaim>('other/pvc/moved');
    expect(status?.phase).toBe('Pending');
    expect((await present<PersistentVolumeClaim>('pvc/elsewhere')).status?.phase).toBe('Pending');
    const { metadata } = await present('vcr/moved');
    await cluster.userClient.delete('vcr/moved');
    await gone(`objectkeeper/ret-pv-${metadata.uid}`);
    expect((await present(`pv/${volume}`)).metadata.deletionTimestamp).toBeUndefined();
  });

  test('a detached volume is restored under another name', async () => {
    const volume = await detached('first');
    const sourceRef = { kind: 'PersistentVolume', name: volume };
    await cluster.userClient.create(restore('again', { sourceRef, targetPVCName: 'second' }));
    await ended('vrr/again', 'True Completed');
    expect(await isBound('second')).toBe(volume);
    await withoutOwner(volume);
  });
});
