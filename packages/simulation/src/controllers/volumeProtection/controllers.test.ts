// Claims and volumes on the embedded server, whose admission adds the protection finalizers.

import { Pod } from '@lapse/kube/api/kinds/builtin';
import { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import { expect, test } from 'vitest';
import { volumeBinder } from '../../csi/volumeBinder.ts';
import { beside, make } from '../simulatedController.testkit.ts';
import { claimProtection, volumeProtection } from './controllers.ts';

test(
  'a claim is deleted after the last Pod that uses it, and its volume after the claim',
  beside(
    () => [claimProtection(), volumeProtection(), ...volumeBinder()],
    async (world) => {
      const at = (name: string) => ({ namespace: 'default', name });
      const requests = { storage: '1Gi' };
      const claim = await make(world, PersistentVolumeClaim, {
        metadata: { ...at('c'), finalizers: ['x.dev/hold'] },
        spec: { accessModes: ['ReadWriteOnce'], volumeName: 'v', resources: { requests } },
      });
      await make(world, PersistentVolume, {
        metadata: { name: 'v' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          capacity: requests,
          csi: { driver: 'd.dev', volumeHandle: 'h' },
          claimRef: { ...at('c'), uid: claim.metadata.uid! },
        },
      });
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
      await make(world, Pod, {
        metadata: at('p'),
        spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }], volumes },
      });
      await world.user.delete(PersistentVolumeClaim, at('c'));
      await world.user.delete(PersistentVolume, { name: 'v' });
      await world.pass(60_000);
      const finalizers = async () => [
        (await world.user.get(PersistentVolumeClaim, at('c')))?.metadata.finalizers,
        (await world.user.get(PersistentVolume, { name: 'v' }))?.metadata.finalizers,
      ];
      expect(await finalizers()).toEqual([
        ['x.dev/hold', 'kubernetes.io/pvc-protection'],
        ['kubernetes.io/pv-protection'],
      ]);
      await world.user.delete(Pod, at('p'), { gracePeriodSeconds: 0 });
      await world.pass(1000);
      expect(await finalizers()).toEqual([['x.dev/hold'], ['kubernetes.io/pv-protection']]);
      await world.user.patch(PersistentVolumeClaim, at('c'), {
        type: 'merge',
        patch: { metadata: { finalizers: null } },
      });
      await world.pass(1000);
      expect(await finalizers()).toEqual([undefined, undefined]);
      expect(await world.user.get(PersistentVolume, { name: 'v' })).toBeUndefined();
    },
  ),
);

test(
  'claims that are not deleted keep their protection finalizer',
  beside(
    () => [claimProtection(), volumeProtection()],
    async (world) => {
      await make(world, PersistentVolumeClaim, {
        metadata: { namespace: 'default', name: 'c' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      });
      await world.pass(60_000);
      expect(world.writes()).toEqual([]);
    },
  ),
);
