// A pool whose status, nodes, volume groups and agents other clients change while the controller works.

import { formatTime, minutes } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import { Manager } from '@lapse/runtime/manager';
import { refuse } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { storagePoolController } from './controller.ts';
import { AGENTS, agent, lvg, node, pool } from './pool.testkit.ts';
import { inPoolWorld, lost, nodesOf, readyOf } from './world.testkit.ts';

const STATUS = '/apis/storage.deckhouse.io/v1alpha1/replicatedstoragepools/p/status';

describe('other writers', () => {
  test(
    'a legacy reason is cleared in a request of its own, once; the phase of an older controller is replaced',
    inPoolWorld(async (w) => {
      const usedBy = { replicatedStorageClassNames: ['class'] };
      const status = { phase: 'Completed', reason: 'old', usedBy, eligibleNodesRevision: 5 };
      await w.put(
        node('n1'),
        lvg('vg', 'n1'),
        pool('p', ['vg'], { status }),
        pool('q', ['gone'], { status }),
      );
      w.manager.start();
      await w.settle();
      const [p, q] = [await w.rsp('p'), await w.rsp('q')];
      expect(p.status).toMatchObject({ usedBy, eligibleNodesRevision: 6 });
      expect(q.status).toMatchObject({ usedBy, eligibleNodesRevision: 5 });
      expect([p, q].map(({ status }) => [status!.phase, status!.reason])).toEqual([
        ['Ready', undefined],
        ['WaitingForLVMVolumeGroups', undefined],
      ]);
      expect(w.writes().filter((request) => request.includes('/p/status'))).toHaveLength(2);
      expect(w.writes()).toHaveLength(4);
      w.manager.enqueueAll('again');
      await w.settle();
      expect(w.writes()).toHaveLength(4);
    }),
  );

  test(
    '[57] a stale node in revision 5 becomes revision 6',
    inPoolWorld(async (w) => {
      const eligibleNodes = [{ nodeName: 'gone', nodeReady: true, unschedulable: false, agentReady: true }];
      const status = { eligibleNodes, eligibleNodesRevision: 5 };
      await w.put(node('n1'), lvg('vg', 'n1'), pool('p', ['vg'], { status }));
      w.manager.start();
      await w.settle();
      expect([nodesOf(await w.rsp('p')), (await w.rsp('p')).status!.eligibleNodesRevision]).toEqual([
        ['n1'],
        6,
      ]);
    }),
  );

  test(
    'a concurrent write of the status causes a conflict, the pool is read again, and both changes are kept',
    inPoolWorld(async (w) => {
      await w.put(node('n1'), lvg('vg', 'n1'), pool('p', ['vg']));
      w.manager.start();
      await w.settle();
      w.holdEvents();
      const usedBy = { replicatedStorageClassNames: ['class'] };
      const other = {
        type: 'Other',
        status: 'True',
        reason: 'X',
        message: '',
        lastTransitionTime: formatTime(w.clock.now()),
      };
      await w.user.patch(
        ReplicatedStoragePool,
        { name: 'p' },
        { type: 'merge', patch: { status: { usedBy, conditions: [other] } } },
        { subresource: 'status' },
      );
      w.releaseEvents();
      let beaten = 0;
      w.interfere = (request) =>
        request.method === 'PATCH' && beaten++ === 0 ? refuse(409, 'Conflict') : undefined;
      await w.put(node('n2'));
      await w.pass(minutes(1));
      const { status } = await w.rsp('p');
      expect(status).toMatchObject({ usedBy, eligibleNodesRevision: 2 });
      expect(status!.conditions!.map(({ type }) => type)).toContain('Other');
      expect(beaten).toBe(2);
      expect(w.reconciles.map(({ outcome }) => outcome.kind)).toContain('again');
    }),
  );

  test.each([
    ['403: waits with growing delays', 403, 'Forbidden', 12],
    ['500: backs off', 500, 'InternalError', 40],
  ])('%s, and writes when it is allowed', (_rule, code, reason, most) =>
    inPoolWorld(async (w) => {
      await w.put(node('n1'), lvg('vg', 'n1'), pool('p', ['vg']));
      let refused = 0;
      w.interfere = (request) => {
        if (request.method !== 'PATCH') return undefined;
        refused++;
        return refuse(code, reason);
      };
      w.manager.start();
      await w.pass(minutes(15));
      expect(refused).toBeGreaterThan(2);
      expect(refused).toBeLessThanOrEqual(most);
      w.interfere = () => undefined;
      await w.pass(minutes(10));
      expect(readyOf(await w.rsp('p'))[0]).toBe('True');
    })(),
  );

  test.each([
    ['rejects as invalid', 422, 'Invalid', 'no'],
    ['rejects as too large', 413, 'RequestEntityTooLarge', 'limit is 3145728'],
    ['cannot store', 500, 'InternalError', 'etcdserver: request is too large'],
  ])('a status that the API server %s is reported, not retried', (_rule, code, reason, message) =>
    inPoolWorld(async (w) => {
      await w.put(node('n1'), lvg('vg', 'n1'), pool('p', ['vg']));
      w.interfere = ({ method }) => (method === 'PATCH' ? refuse(code, reason, message) : undefined);
      w.manager.start();
      await w.pass(minutes(60));
      expect(w.reconciles.map(({ outcome }) => outcome)).toEqual([
        { kind: 'terminal', reason: 'StatusRefused', message },
      ]);
    })(),
  );

  test(
    'a pool that is deleted during a write is dropped',
    inPoolWorld(async (w) => {
      await w.put(node('n1'), lvg('vg', 'n1'), pool('p', ['vg']));
      w.interfere = (request) => {
        if (request.method === 'PATCH') void w.user.delete(ReplicatedStoragePool, { name: 'p' });
        return undefined;
      };
      w.manager.start();
      await w.pass(minutes(1));
      expect(w.reconciles.every(({ outcome }) => ['settled', 'again'].includes(outcome.kind))).toBe(true);
      expect(w.counts().writes).toBeLessThan(3);
    }),
  );

  test(
    'only relevant changes trigger a reconcile, and only the status is written',
    inPoolWorld(async (w) => {
      await w.put(
        node('n1'),
        lvg('vg', 'n1'),
        agent('a', 'n1'),
        pool('p', ['vg']),
        pool('far', ['vg'], { zones: ['far'] }),
      );
      w.manager.start();
      await w.settle();
      const { reconciles } = w.counts();
      const heartbeat = {
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            lastTransitionTime: '2026-01-01T00:00:00Z',
            lastHeartbeatTime: formatTime(w.clock.now()),
          },
        ],
      };
      await w.user.patch(
        Node,
        { name: 'n1' },
        { type: 'merge', patch: { status: heartbeat } },
        { subresource: 'status' },
      );
      await w.settle();
      expect(w.counts().reconciles).toBe(reconciles);
      await w.put(lost(w, 'n1'));
      expect(new Set(w.reconciles.slice(reconciles).map(({ key }) => key))).toEqual(new Set(['p']));
      await w.remove('Pod', 'a');
      expect((await w.rsp('p')).status!.eligibleNodes![0]!.agentReady).toBe(false);
      expect(new Set(w.writes().map((request) => request.split('?')[0]))).toEqual(
        new Set([`PATCH ${STATUS}`, `PATCH ${STATUS.replace('/p/', '/far/')}`]),
      );
    }),
  );
});

test(
  'two active processes, as when leadership is unclear, count every change of the list once',
  inPoolWorld(async (w) => {
    await w.put(node('n1'), lvg('vg', 'n1'), pool('p', ['vg']));
    const controllers = [storagePoolController({ agentNamespace: AGENTS })];
    const second = new Manager({ clock: w.clock, random: seededRandom(5), client: w.client, controllers });
    w.manager.start();
    second.start();
    await w.pass(minutes(1));
    for (let i = 0; i < 10; i++) {
      await w.put(node('n1', { unschedulable: i % 2 === 0 }));
      await w.pass(minutes(1));
      expect((await w.rsp('p')).status).toMatchObject({
        eligibleNodesRevision: i + 2,
        eligibleNodes: [{ unschedulable: i % 2 === 0 }],
      });
    }
    const stopped = second.stop();
    await w.pass(minutes(1));
    await stopped;
  }),
);

describe('agents', () => {
  test(
    '⚡ an agent that becomes ready before the cache shows its node in the pool is not missed',
    inPoolWorld(async (w) => {
      await w.put(lvg('vg', 'n1'), agent('a', 'n1', { ready: 'False' }), pool('p', ['vg']));
      w.manager.start();
      await w.settle();
      let held = false;
      w.interfere = ({ method }) => {
        // The reconcile has read the agents. Its write reaches the cache later.
        if (method === 'PATCH' && !held) {
          held = true;
          void w.put(agent('a', 'n1')).catch(() => {});
        }
        return undefined;
      };
      await w.put(node('n1'));
      await w.pass(1000);
      expect(held).toBe(true);
      expect((await w.rsp('p')).status!.eligibleNodes![0]!.agentReady).toBe(true);
    }),
  );

  test(
    'any ready Pod of the agents’ namespace counts; other, terminating and unscheduled ones do not',
    inPoolWorld(async (w) => {
      await w.put(node('n1'), lvg('vg', 'n1'), pool('p', ['vg']));
      w.manager.start();
      const ready = async () => (await w.rsp('p')).status!.eligibleNodes![0]!.agentReady;
      await w.put(agent('unscheduled', ''), agent('stranger', 'n1', { app: 'other' }));
      await w.put(agent('elsewhere', 'n1', { namespace: 'default' }));
      expect(await ready()).toBe(false);
      await w.put(agent('left-over', 'n1', { ready: 'False' }), agent('good', 'n1'));
      expect(await ready()).toBe(true);
      await w.remove('Pod', 'left-over');
      expect(await ready()).toBe(true);
      await w.user.delete(Pod, { namespace: AGENTS, name: 'good' }, { gracePeriodSeconds: 30 });
      await w.settle();
      expect(await ready()).toBe(false);
    }),
  );
});
