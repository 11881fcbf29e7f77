// Nodes on the embedded server: one with heartbeats, one that stops, one without the label.

import { Node } from '@lapse/kube/api/kinds/builtin';
import { expect, test } from 'vitest';
import { beside, make } from '../simulatedController.testkit.ts';
import { HEARTBEAT } from './compute.ts';
import { nodeHeartbeat } from './controller.ts';

test(
  'labelled Nodes stay ready until their heartbeat stops',
  beside(
    () => [nodeHeartbeat()],
    async (world) => {
      const labelled = (value: string) => ({ labels: { [HEARTBEAT]: value } });
      await make(world, Node, { metadata: { name: 'beats', ...labelled('') } });
      await make(world, Node, { metadata: { name: 'stops', ...labelled('stop-after-5m') } });
      await make(world, Node, { metadata: { name: 'wrong', ...labelled('stop-after-x') } });
      await make(world, Node, { metadata: { name: 'other' } });
      const readiness = async () =>
        Object.fromEntries(
          (await world.user.list(Node)).items.map(({ metadata, status }) => [
            metadata.name,
            status?.conditions?.find(({ type }) => type === 'Ready')?.status,
          ]),
        );
      await world.pass(349_000);
      expect(await readiness()).toEqual({ beats: 'True', stops: 'True', wrong: undefined, other: undefined });
      await world.pass(2000);
      expect(await readiness()).toEqual({
        beats: 'True',
        stops: 'Unknown',
        wrong: undefined,
        other: undefined,
      });
      const before = world.writes().length;
      await world.pass(3_600_000);
      expect(world.writes().length - before).toBe(12);
      expect(world.notes).toEqual(['wrong Warning InvalidHeartbeat']);
    },
  ),
);
