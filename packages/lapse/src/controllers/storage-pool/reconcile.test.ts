// A pool from its creation on, with the complete controller: number of reconciles and writes, and the resulting
// status.

import { formatTime, minutes } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { agent, lvg, node, pool } from './pool.testkit.ts';
import { inPoolWorld, lost, nodesOf, readyOf } from './world.testkit.ts';

describe('a new pool', () => {
  test(
    '[55] the first reconcile lists the nodes, reports Ready and finishes',
    inPoolWorld(async (w) => {
      await w.put(
        node('n2'),
        node('n1', { zone: 'a' }),
        lvg('vg', 'n1'),
        agent('agent-1', 'n1'),
        pool('p', ['vg']),
      );
      w.manager.start();
      await w.settle();
      const rsp = await w.rsp('p');
      expect(rsp.status).toMatchObject({
        eligibleNodesRevision: 1,
        eligibleNodes: [
          {
            nodeName: 'n1',
            zoneName: 'a',
            nodeReady: true,
            unschedulable: false,
            agentReady: true,
            lvmVolumeGroups: [{ name: 'vg', unschedulable: false, ready: true }],
          },
          { nodeName: 'n2', nodeReady: true, unschedulable: false, agentReady: false },
        ],
      });
      expect(rsp.status!.conditions).toEqual([
        {
          type: 'Ready',
          status: 'True',
          reason: 'Ready',
          message: 'Eligible nodes calculated successfully: 2 nodes',
          observedGeneration: 1,
          lastTransitionTime: formatTime(w.clock.now()),
        },
      ]);
      // The second reconcile is triggered by the write of the first one.
      expect(w.timeline()).toEqual(['+0 p settled', '+0 p settled']);
      expect(w.writes()).toHaveLength(1);
    }),
  );

  test(
    '[51] the reconcile of a deleted pool does nothing',
    inPoolWorld(async (w) => {
      await w.put(lvg('vg', 'n1'), pool('p', ['vg']));
      w.manager.start();
      await w.settle();
      await w.remove('ReplicatedStoragePool', 'p');
      expect(w.reconciles.at(-1)!.outcome).toEqual({ kind: 'settled' });
      expect(w.writes()).toHaveLength(1);
    }),
  );

  test(
    'without nodes the pool is Ready and has no list and no revision',
    inPoolWorld(async (w) => {
      await w.put(lvg('vg', 'n1'), pool('p', ['vg']));
      w.manager.start();
      await w.settle();
      const rsp = await w.rsp('p');
      const message =
        'Eligible nodes calculated successfully: 0 nodes; no agent Pods (label app=agent) found in namespace agents';
      expect(readyOf(rsp)).toEqual(['True', 'Ready', message]);
      expect(Object.keys(rsp.status!).sort()).toEqual(['conditions', 'message', 'phase']);
    }),
  );

  test(
    'zones and labels select the nodes',
    inPoolWorld(async (w) => {
      await w.put(
        node('n1', { zone: 'a', labels: { disk: 'ssd' } }),
        node('n2', { zone: 'b', labels: { disk: 'ssd' } }),
        node('n3', { zone: 'a' }),
        lvg('vg', 'n1'),
        pool('p', ['vg'], { zones: ['a'], nodeLabelSelector: { matchLabels: { disk: 'ssd' } } }),
      );
      w.manager.start();
      await w.settle();
      expect(nodesOf(await w.rsp('p'))).toEqual(['n1']);
    }),
  );
});

describe('the grace period', () => {
  test(
    '[58] a node that stops being Ready is listed until exactly the end of the grace period',
    inPoolWorld(async (w) => {
      await w.put(node('n1'), node('n2'), lvg('vg', 'n1'), pool('p', ['vg'], { grace: '5m' }));
      w.manager.start();
      await w.settle();
      await w.pass(minutes(1));
      await w.put(lost(w, 'n1'));
      expect(nodesOf(await w.rsp('p'))).toEqual(['n1 (not ready)', 'n2']);
      expect((await w.rsp('p')).status!.eligibleNodesRevision).toBe(2);
      await w.pass(minutes(5) - 1);
      expect(nodesOf(await w.rsp('p'))).toEqual(['n1 (not ready)', 'n2']);
      await w.pass(1);
      expect(nodesOf(await w.rsp('p'))).toEqual(['n2']);
      expect((await w.rsp('p')).status!.eligibleNodesRevision).toBe(3);
      expect([...new Set(w.timeline())]).toEqual(['+0 p settled', '+60000 p waitUntil', '+360000 p settled']);
      expect(w.writes()).toHaveLength(3);
    }),
  );

  test(
    'two nodes are removed in the order of their deadlines; one that recovers in time is kept',
    inPoolWorld(async (w) => {
      await w.put(node('n1'), node('n2'), node('n3'), lvg('vg', 'n1'), pool('p', ['vg'], { grace: '5m' }));
      w.manager.start();
      await w.put(lost(w, 'n2'));
      await w.pass(minutes(1));
      await w.put(lost(w, 'n1'), lost(w, 'n3'));
      await w.pass(minutes(4));
      expect(nodesOf(await w.rsp('p'))).toEqual(['n1 (not ready)', 'n3 (not ready)']);
      await w.put(node('n3'));
      await w.pass(minutes(1));
      expect(nodesOf(await w.rsp('p'))).toEqual(['n3']);
      await w.pass(minutes(60));
      expect(nodesOf(await w.rsp('p'))).toEqual(['n3']);
    }),
  );

  test(
    '⚡ a node without a Ready condition is kept for the grace period after its creation',
    inPoolWorld(async (w) => {
      await w.put(lvg('vg', 'n1'), pool('p', ['vg'], { grace: '5m' }));
      w.manager.start();
      await w.put(node('n1', { ready: null }));
      await w.pass(minutes(5) - 1);
      expect(nodesOf(await w.rsp('p'))).toEqual(['n1 (not ready)']);
      await w.pass(1);
      expect(nodesOf(await w.rsp('p'))).toEqual([]);
      expect((await w.rsp('p')).status!.eligibleNodesRevision).toBe(2);
    }),
  );

  test(
    'a longer grace period adds nodes again; a shorter one removes them at once',
    inPoolWorld(async (w) => {
      await w.put(node('n1'), lvg('vg', 'n1'), pool('p', ['vg'], { grace: '5m' }));
      w.manager.start();
      await w.put(lost(w, 'n1'));
      await w.pass(minutes(6));
      expect(nodesOf(await w.rsp('p'))).toEqual([]);
      const grace = (text: string) =>
        w.user.patch(
          ReplicatedStoragePool,
          { name: 'p' },
          { type: 'merge', patch: { spec: { eligibleNodesPolicy: { notReadyGracePeriod: text } } } },
        );
      await grace('10m');
      await w.settle();
      expect(nodesOf(await w.rsp('p'))).toEqual(['n1 (not ready)']);
      await grace('0s');
      await w.settle();
      expect(nodesOf(await w.rsp('p'))).toEqual([]);
    }),
  );
});
