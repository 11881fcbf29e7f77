// Specification of triggers: which changes are relevant, and which pools they concern.

import type { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { factsChanged } from '@lapse/runtime/facts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import type { EligibleNode, ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { agent, type LVGParts, lvg, type NodeParts, node, pool, readerOf } from './pool.testkit.ts';
import {
  lvgFacts,
  mightSelect,
  nodeFacts,
  podFacts,
  poolFacts,
  poolIndexes,
  poolsOfLVG,
  poolsOfNode,
  poolsOfPod,
  watches,
} from './sources.ts';

const entry = (nodeName: string): EligibleNode => ({
  nodeName,
  nodeReady: true,
  unschedulable: false,
  agentReady: true,
});
const listing = (name: string, ...nodes: string[]) =>
  pool(name, ['vg'], { zones: ['nowhere'], status: { eligibleNodes: nodes.map(entry) } });
const names = (keys: Iterable<{ name: string }>) => [...new Set([...keys].map(({ name }) => name))].sort();

describe('a node triggers', () => {
  const wakes = (of: Node, ...pools: ReplicatedStoragePool[]) => names(poolsOfNode(of, readerOf(...pools)));

  test('[68] pools that list it and pools that select any node', () => {
    expect(wakes(node('n1'), listing('lists', 'n1'), pool('open', ['vg']), listing('other', 'n2'))).toEqual([
      'lists',
      'open',
    ]);
  });
  test('[69] pools whose zones and labels match', () => {
    const of = node('n1', { zone: 'a', labels: { disk: 'ssd' } });
    const ask = (name: string, zone: string, disk: string) =>
      pool(name, ['vg'], { zones: [zone], nodeLabelSelector: { matchLabels: { disk } } });
    expect(wakes(of, ask('both', 'a', 'ssd'), ask('zone', 'b', 'ssd'), ask('label', 'a', 'hdd'))).toEqual([
      'both',
    ]);
  });
  test('[70] a pool that lists and selects it only once', () => {
    const both = pool('both', ['vg'], { status: { eligibleNodes: [entry('n1')] } });
    expect(wakes(node('n1'), both)).toEqual(['both']);
  });
  test('[71] no pool if none is concerned', () => {
    expect(wakes(node('n1', { zone: 'b' }), pool('p', ['vg'], { zones: ['a'] }))).toEqual([]);
  });
  test('[79] pools with an invalid selector', () => {
    const odd = pool('odd', ['vg'], {
      nodeLabelSelector: { matchExpressions: [{ key: 'a', operator: 'Gt' }] },
    });
    expect(mightSelect(odd, node('n1'))).toBe(true);
    expect(wakes(node('n1'), odd)).toEqual(['odd']);
  });
  test('pools that require the absence of a label', () => {
    const without = pool('p', ['vg'], {
      nodeLabelSelector: { matchExpressions: [{ key: 'disk', operator: 'DoesNotExist' }] },
    });
    expect(wakes(node('n1'), without)).toEqual(['p']);
    expect(wakes(node('n1', { labels: { disk: 'ssd' } }), without)).toEqual([]);
  });
  test('the same pools by index as by selector', () => {
    const label = fc.constantFrom('x', 'y', '');
    const labels = fc.dictionary(fc.constantFrom('a', 'b'), label);
    const operator = fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt');
    const expressions = fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b', 'c c'),
        operator,
        values: fc.array(label, { maxLength: 2 }),
      }),
      { maxLength: 2 },
    );
    const selector = fc.record({ matchLabels: labels, matchExpressions: expressions });
    fc.assert(
      fc.property(labels, selector, fc.array(label, { maxLength: 2 }), (has, nodeLabelSelector, zones) => {
        const asked = pool('p', ['vg'], { nodeLabelSelector, zones });
        const of = node('n1', { labels: has });
        expect(wakes(of, asked)).toEqual(mightSelect(asked, of) ? ['p'] : []);
      }),
    );
  });
});

describe('a volume group triggers', () => {
  test('[82] [83] pools that refer to it, once each', () => {
    const pools = [pool('a', ['vg', 'vg']), pool('b', ['other', 'vg']), pool('c', ['other'])];
    expect(names(poolsOfLVG(lvg('vg', 'n1'), readerOf(...pools)))).toEqual(['a', 'b']);
    expect(names(poolsOfLVG(lvg('nobody', 'n1'), readerOf(...pools)))).toEqual([]);
  });
});

describe('an agent triggers', () => {
  const others = [agent('b', 'n8'), agent('c', 'n9')];
  const wakes = (of: Pod, ...objects: KubeObject[]) => names(poolsOfPod(of, readerOf(...others, ...objects)));
  test('every pool when it is the first or the last one: each pool reports whether there are agents', () => {
    const pools = [listing('lists', 'n1'), listing('other', 'n2')];
    for (const agents of [[], [agent('a', 'n1')]])
      expect(names(poolsOfPod(agent('a', 'n1'), readerOf(...agents, ...pools)))).toEqual(['lists', 'other']);
  });
  test('[86] [92] pools that list its node', () => {
    expect(wakes(agent('a', 'n1'), listing('lists', 'n1'), listing('other', 'n2'))).toEqual(['lists']);
    expect(wakes(agent('a', 'n3'), listing('lists', 'n1'))).toEqual([]);
  });
  test('⚡ pools that select its node and will list it soon', () => {
    expect(wakes(agent('a', 'n1'), node('n1'), pool('soon', ['vg']))).toEqual(['soon']);
  });
  test('[89] no pool while it is not scheduled', () => {
    expect(wakes(agent('a', ''), listing('lists', ''), pool('open', ['vg']))).toEqual([]);
  });
  test('[87] [88] [102] [103] [104] [107] nothing from other namespaces or labels: the watch excludes them', () => {
    const [, , pods] = watches('d8-agents');
    expect([pods!.namespace, pods!.labelSelector]).toEqual(['d8-agents', 'app=agent']);
  });
});

describe('indexes', () => {
  test('by eligible node, by volume group, by required node label', () => {
    const made = pool('p', ['b', 'a', 'b'], {
      zones: ['x', 'y'],
      status: { eligibleNodes: [entry('n2'), entry('n1')] },
    });
    expect(Object.values(poolIndexes).map((values) => values(made))).toEqual([
      ['n2', 'n1'],
      ['b', 'a'],
      ['topology.kubernetes.io/zone=x', 'topology.kubernetes.io/zone=y'],
    ]);
  });
  test('a pool without a status has no eligible nodes', () => {
    expect(poolIndexes['status.eligibleNodes[].nodeName'](pool('p', ['a']))).toEqual([]);
  });
});

const version = <T extends Node | LVMVolumeGroup | Pod | ReplicatedStoragePool>(
  object: T,
  resourceVersion: string,
): T => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});

describe('relevant changes', () => {
  const changesNode = (before: NodeParts, after: NodeParts) =>
    factsChanged(nodeFacts, version(node('n', before), '1'), version(node('n', after), '2'));
  test.each<[string, NodeParts, NodeParts, boolean]>([
    ['[93] a changed label', { labels: { a: '1' } }, { labels: { a: '2' } }, true],
    ['an added label', {}, { labels: { a: '' } }, true],
    ['a zone', { zone: 'a' }, { zone: 'b' }, true],
    ['[94] Ready changed', { ready: 'True' }, { ready: 'False' }, true],
    ['Unknown became False', { ready: 'Unknown' }, { ready: 'False' }, true],
    ['Ready appeared', { ready: null }, { ready: 'False' }, true],
    ['the grace period restarted', { ready: 'False', since: 0 }, { ready: 'False', since: 1000 }, true],
    ['[95] cordoned', {}, { unschedulable: true }, true],
    ['[96] only the resourceVersion', {}, {}, false],
    ['cordoned in another representation', {}, { unschedulable: false }, false],
  ])('node: %s', (_rule, before, after, expected) => {
    expect(changesNode(before, after)).toBe(expected);
  });
  test('node: heartbeats, addresses, images and taints are not relevant', () => {
    const before = node('n');
    const after = structuredClone(before);
    for (const condition of after.status!.conditions!)
      Object.assign(condition, { lastHeartbeatTime: '2026-01-01T00:05:00Z', message: 'kubelet is well' });
    Object.assign(after.status!, { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }], images: [] });
    Object.assign(after.spec!, { taints: [{ key: 'x', effect: 'NoSchedule' }] });
    after.metadata.annotations = { a: 'b' };
    expect(factsChanged(nodeFacts, before, after)).toBe(false);
  });

  const mark = { 'storage.deckhouse.io/lvmVolumeGroupUnschedulable': '' };
  test.each<[string, LVGParts, LVGParts, boolean]>([
    ['[98] the annotation', {}, { annotations: mark }, true],
    ['[99] Ready changed', { ready: 'False' }, { ready: 'True' }, true],
    ['[111] [112] a missing Ready became False', { ready: null }, { ready: 'False' }, true],
    ['[100] [114] a thin pool became ready', { thinPools: { tp: false } }, { thinPools: { tp: true } }, true],
    ['[115] an added thin pool', { thinPools: {} }, { thinPools: { tp: false } }, true],
    ['[101] [113] only the resourceVersion', { thinPools: { tp: true } }, { thinPools: { tp: true } }, false],
    ['another annotation', {}, { annotations: { a: 'b' } }, false],
  ])('volume group: %s', (_rule, before, after, expected) => {
    expect(
      factsChanged(lvgFacts, version(lvg('vg', 'n', before), '1'), version(lvg('vg', 'n', after), '2')),
    ).toBe(expected);
  });
  test('[97] volume group: the generation', () => {
    const before = lvg('vg', 'n');
    expect(
      factsChanged(lvgFacts, before, { ...before, metadata: { ...before.metadata, generation: 2 } }),
    ).toBe(true);
  });

  test.each([
    ['[105] Ready changed', agent('a', 'n'), agent('a', 'n', { ready: 'False' }), true],
    [
      '[106] a missing Ready became False',
      agent('a', 'n', { ready: null }),
      agent('a', 'n', { ready: 'False' }),
      false,
    ],
    ['⚡ it is terminating', agent('a', 'n'), agent('a', 'n', { terminating: true }), true],
    ['it was scheduled', agent('a', ''), agent('a', 'n'), true],
  ])('Pod: %s', (_rule, before, after, expected) => {
    expect(factsChanged(podFacts, before, after)).toBe(expected);
  });

  const ready = (status: string) => [{ type: 'Ready', status }];
  test.each<[string, ReplicatedStoragePool['status'], ReplicatedStoragePool['status'], boolean]>([
    ['⚡ the revision, by any writer', {}, { eligibleNodesRevision: 1 }, true],
    ['⚡ Ready changed', { conditions: ready('True') }, { conditions: ready('False') }, true],
    ['⚡ the list was removed', { eligibleNodes: [entry('n1')] }, {}, true],
    ['legacy fields were added', {}, { phase: 'Completed' }, true],
    ['who uses it', {}, { usedBy: { replicatedStorageClassNames: ['x'] } }, false],
    ['a condition of another controller', {}, { conditions: [{ type: 'Other', status: 'True' }] }, false],
  ])('pool: %s', (_rule, before, after, expected) => {
    const made = (status: ReplicatedStoragePool['status']) => pool('p', ['vg'], { status: status! });
    expect(factsChanged(poolFacts, made(before), made(after))).toBe(expected);
  });
  test('pool: its generation', () => {
    const before = pool('p', ['vg']);
    expect(factsChanged(poolFacts, before, { ...before, metadata: { name: 'p', generation: 2 } })).toBe(true);
  });
  test('[72] [73] [84] [85] [90] [91] every creation and deletion is relevant', () => {
    expect(factsChanged(nodeFacts, undefined, node('n'))).toBe(true);
    expect(factsChanged(nodeFacts, node('n'), undefined)).toBe(true);
  });
});
