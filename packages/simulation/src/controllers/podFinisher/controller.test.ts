// The simulated kubelet with the status validation of the embedded server.

import { Pod } from '@lapse/kube/api/kinds/builtin';
import type { World } from '@lapse/runtime/world.testkit';
import { expect, test } from 'vitest';
import { FINISH } from '../finish.ts';
import { beside, make } from '../simulatedController.testkit.ts';
import { podFinisher } from './controller.ts';

const key = { namespace: 'default', name: 'p' };
const create = (world: World, annotations: Record<string, string>) =>
  make(world, Pod, {
    metadata: { ...key, annotations },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  });
const phaseOf = async (world: World) => (await world.user.get(Pod, key))?.status?.phase;

test(
  'a Pod runs and finishes at the requested time',
  beside(
    () => [podFinisher()],
    async (world) => {
      await create(world, { [FINISH]: 'failed after 1m' });
      await world.pass(59_999);
      expect(await phaseOf(world)).toBe('Running');
      await world.pass(1);
      expect(await phaseOf(world)).toBe('Failed');
      await world.pass(600_000);
      expect(world.writes()).toHaveLength(2);
    },
  ),
);

test(
  'an invalid annotation is reported once, and a Pod without it is never changed',
  beside(
    () => [podFinisher()],
    async (world) => {
      await create(world, { [FINISH]: 'maybe' });
      await world.pass(3_600_000);
      expect(world.notes).toEqual(['p Warning InvalidFinish']);
      await world.user.patch(Pod, key, { type: 'merge', patch: { metadata: { annotations: null } } });
      await world.pass(3_600_000);
      expect([world.writes(), await phaseOf(world)]).toEqual([[], 'Pending']);
    },
  ),
);
