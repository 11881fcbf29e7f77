// Invalid input is reported in a condition, the previous list is kept, and no request is repeated until something
// changes.

import { minutes } from '@lapse/base/instant';
import { Node } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { lvmVolumeGroup } from '#api/lvmVolumeGroup';
import { type ReplicatedStoragePool, replicatedStoragePool } from '#api/replicatedStoragePool';
import { lvg, node, pool } from './pool.testkit.ts';
import { inPoolWorld, lost, readyOf } from './world.testkit.ts';

describe('invalid input is reported, the previous list is kept, and no request is repeated', () => {
  const bad = (
    name: string,
    rsp: ReplicatedStoragePool,
    reason: string,
    words: string,
    crds = [replicatedStoragePool.crd, lvmVolumeGroup.crd],
  ) =>
    test(
      name,
      inPoolWorld(
        async (w) => {
          const before = [{ nodeName: 'old', nodeReady: true, unschedulable: false, agentReady: true }];
          const status = { eligibleNodes: before, eligibleNodesRevision: 7 };
          await w.put(node('n1'), lvg('vg', 'n1', { specThinPools: ['tp'] }), { ...rsp, status });
          w.manager.start();
          await w.settle();
          const after = await w.rsp('p');
          expect(readyOf(after).slice(0, 2)).toEqual(['False', reason]);
          expect(readyOf(after)[2]).toContain(words);
          expect([after.status!.eligibleNodes, after.status!.eligibleNodesRevision]).toEqual([before, 7]);
          const { reconciles } = w.counts();
          await w.put(node('n1', { unschedulable: true }));
          await w.pass(minutes(60));
          expect(w.counts().reconciles).toBeLessThanOrEqual(reconciles + 2);
          expect(w.reconciles.at(-1)!.outcome).toEqual({ kind: 'settled' });
          expect(w.writes()).toHaveLength(1);
        },
        {},
        crds,
      ),
    );
  const lenient = (() => {
    const crd = structuredClone(replicatedStoragePool.crd) as unknown as {
      spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: object } } } }[] };
    };
    const { properties } = crd.spec.versions[0]!.schema.openAPIV3Schema;
    properties.spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    return [crd as unknown as typeof replicatedStoragePool.crd, lvmVolumeGroup.crd];
  })();

  bad(
    '[52] a volume group that does not exist',
    pool('p', ['vg', 'gone']),
    'LVMVolumeGroupNotFound',
    'Some LVMVolumeGroups not found: LVMVolumeGroup "gone" not found',
  );
  bad(
    '[53] LVMThin without a thin pool',
    pool('p', ['vg'], { type: 'LVMThin' }),
    'InvalidLVMVolumeGroup',
    'thinPoolName is required',
    lenient,
  );
  bad(
    'a thin pool that does not exist',
    pool('p', ['vg/x']),
    'InvalidLVMVolumeGroup',
    'thinPool "x" not found in Spec.ThinPools',
  );
  bad(
    '[54] a selector key with spaces',
    pool('p', ['vg'], { nodeLabelSelector: { matchLabels: { 'a b': 'c' } } }),
    'InvalidNodeLabelSelector',
    'Invalid NodeLabelSelector: key: Invalid value: "a b"',
  );
  bad(
    'an operator nobody knows',
    pool('p', ['vg'], {
      nodeLabelSelector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
    }),
    'InvalidNodeLabelSelector',
    '"Gt" is not a valid',
    lenient,
  );
  bad(
    'zones that are no labels',
    pool('p', ['vg'], { zones: ['a b'] }),
    'InvalidNodeLabelSelector',
    'Invalid Zones: values[0]',
  );
  bad(
    'a duration that is none',
    pool('p', ['vg'], { grace: 'soon' }),
    'InvalidEligibleNodesPolicy',
    'time: invalid duration "soon"',
    lenient,
  );
  bad(
    'a negative duration',
    pool('p', ['vg'], { grace: '-1s' }),
    'InvalidEligibleNodesPolicy',
    '"-1s" is negative',
    lenient,
  );
  bad(
    'more missing volume groups than a message can hold',
    pool(
      'p',
      Array.from({ length: 200 }, (_, i) => `${i}${'x'.repeat(240)}`),
    ),
    'LVMVolumeGroupNotFound',
    '…',
  );
});

describe('limits', () => {
  test(
    'the 1,001st node exceeds the limit: reported once, and resolved by time alone',
    inPoolWorld(async (w) => {
      const nodes = Array.from({ length: 1000 }, (_, i) => node(`n${String(i).padStart(4, '0')}`));
      for (const each of nodes) await w.user.create(Node, each);
      await w.put(lvg('vg', 'n0000'), pool('p', ['vg'], { grace: '5m' }));
      w.manager.start();
      await w.settle();
      expect(readyOf(await w.rsp('p'))[0]).toBe('True');
      await w.put(node('x'));
      const said = await w.rsp('p');
      expect(readyOf(said)).toEqual([
        'False',
        'TooManyEligibleNodes',
        'Too many eligible nodes: 1001, at most 1000',
      ]);
      expect([said.status!.eligibleNodes!.length, said.status!.eligibleNodesRevision]).toEqual([1000, 1]);
      await w.pass(minutes(60));
      expect(w.writes()).toHaveLength(2);
      await w.put(lost(w, 'x'));
      await w.pass(minutes(5) - 1);
      expect(readyOf(await w.rsp('p'))[0]).toBe('False');
      await w.pass(1);
      expect(readyOf(await w.rsp('p'))[0]).toBe('True');
      expect((await w.rsp('p')).status!.eligibleNodesRevision).toBe(1);
    }),
  );

  test(
    '51 volume groups on one node exceed the limit',
    inPoolWorld(async (w) => {
      const groups = Array.from({ length: 51 }, (_, i) => lvg(`vg${i}`, 'n1'));
      const references = groups.map(({ metadata }) => metadata.name!);
      await w.put(node('n1'), ...groups, pool('p', references), pool('q', references.slice(1)));
      w.manager.start();
      await w.settle();
      expect(readyOf(await w.rsp('p'))[2]).toBe('Too many LVMVolumeGroups on node "n1": 51, at most 50');
      expect((await w.rsp('q')).status!.eligibleNodes![0]!.lvmVolumeGroups).toHaveLength(50);
      await w.pass(minutes(60));
      expect(w.writes()).toHaveLength(2);
    }),
  );
});
