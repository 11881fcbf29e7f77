// Exactly pool.yaml, from the moment it is applied until the silent node has left the list.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { millis, minutes, seconds } from '@lapse/base/instant';
import type { ReplicatedStoragePool } from 'lapse/api/replicatedStoragePool';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect } from 'vitest';
import { scenario } from '../../test/scenarios/scenario.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const yaml = read('pool.yaml');
/** What the README promises. */
const [, shown = ''] = /```timeline\n([\s\S]*?)```/.exec(read('README.md')) ?? [];

scenario(
  'a silent node is kept for its grace period, and leaves at the instant it ends',
  async ({ given, when, then }) => {
    given.controllers('storage-pool');
    given.simulatedControllers(...simulatedControllersNamed(['node-heartbeat']));
    await given.object(yaml);
    const nodes = async () => {
      const { status } = await then.object<ReplicatedStoragePool>('rsp/replicated');
      return (status?.eligibleNodes ?? []).map(
        ({ nodeName, nodeReady }) => `${nodeName} ${nodeReady ? 'ready' : 'not ready'}`,
      );
    };
    const { status } = await then.object<ReplicatedStoragePool>('rsp/replicated');
    expect(status?.eligibleNodes).toEqual([
      {
        nodeName: 'storage-a',
        zoneName: 'zone-1',
        nodeReady: true,
        unschedulable: false,
        agentReady: true,
        lvmVolumeGroups: [{ name: 'vg-a', thinPoolName: 'data', unschedulable: false, ready: true }],
      },
      {
        nodeName: 'storage-b',
        zoneName: 'zone-2',
        nodeReady: true,
        unschedulable: false,
        agentReady: false,
        lvmVolumeGroups: [{ name: 'vg-b', thinPoolName: 'data', unschedulable: true, ready: true }],
      },
      {
        nodeName: 'storage-c',
        zoneName: 'zone-2',
        nodeReady: true,
        unschedulable: false,
        agentReady: false,
        lvmVolumeGroups: [{ name: 'vg-c', thinPoolName: 'data', unschedulable: false, ready: false }],
      },
    ]);
    await when.timePasses(seconds(110));
    expect(await nodes()).toEqual(['storage-a ready', 'storage-b ready', 'storage-c not ready']);
    await when.timePasses(millis(minutes(2) - 1));
    expect(await nodes()).toHaveLength(3);
    await when.timePasses(millis(1));
    expect(await nodes()).toEqual(['storage-a ready', 'storage-b ready']);
    then.timeline().toEqual(shown);
  },
);
