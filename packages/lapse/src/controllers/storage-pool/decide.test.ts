// Specification of eligibility. Numbers in brackets are the scenarios of the original controller. ⚡ marks scenarios
// where its documentation takes precedence over its code.

import { millis } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import {
  computeActualEligibleNodes,
  hasSystemNetworks,
  isAgentReady,
  isNodeReadyOrWithinGrace,
} from './decide.ts';
import { AGENTS, agent, at, GRACE, inputs, lvg, node, pool } from './pool.testkit.ts';

const M = 60_000;

const compute = (parts: Parameters<typeof inputs>[0], now = at(0)) =>
  computeActualEligibleNodes(inputs(parts), now);

const only = (parts: Parameters<typeof inputs>[0], now = at(0)) => {
  const { eligibleNodes } = compute(parts, now);
  expect(eligibleNodes).toHaveLength(1);
  return eligibleNodes[0]!;
};

describe('computeActualEligibleNodes', () => {
  test('[1] lists a fully eligible node with zone, readiness and its ready volume group', () => {
    const actual = compute({
      nodes: [node('n1', { zone: 'a' })],
      lvgs: [lvg('vg', 'n1')],
      agentReadyByNode: new Map([['n1', true]]),
    });
    expect(actual).toEqual({
      eligibleNodes: [
        {
          nodeName: 'n1',
          zoneName: 'a',
          nodeReady: true,
          unschedulable: false,
          agentReady: true,
          lvmVolumeGroups: [{ name: 'vg', unschedulable: false, ready: true }],
        },
      ],
      worldStateExpiresAt: undefined,
      expired: new Map(),
    });
  });

  test('[2] reads the zone from the label of the node', () => {
    expect(only({ nodes: [node('n1', { zone: 'b' })] }).zoneName).toBe('b');
  });
  test('[3] lists a node whose zone label is missing or empty without a zone', () => {
    expect(only({ nodes: [node('n1')] })).not.toHaveProperty('zoneName');
    expect(only({ nodes: [node('n1', { zone: '' })] })).not.toHaveProperty('zoneName');
  });
  test('[4] lists a node without a volume group of the pool', () => {
    expect(only({ nodes: [node('n1')], lvgs: [lvg('vg', 'n2')] })).not.toHaveProperty('lvmVolumeGroups');
  });
  test('[5] omits a node that has been not Ready for longer than the grace period', () => {
    const nodes = [node('n1', { ready: 'False', since: 0 })];
    const expired = new Map([['n1', at(GRACE)]]);
    expect(compute({ nodes }, at(10 * M))).toEqual({
      eligibleNodes: [],
      worldStateExpiresAt: undefined,
      expired,
    });
  });
  test('[6] lists a node that has been not Ready for less than the grace period as not ready', () => {
    expect(only({ nodes: [node('n1', { ready: 'False', since: 0 })] }, at(2 * M)).nodeReady).toBe(false);
  });
  test('[7] marks an unschedulable volume group', () => {
    const lvgs = [
      lvg('vg', 'n1', { annotations: { 'storage.deckhouse.io/lvmVolumeGroupUnschedulable': '' } }),
    ];
    expect(only({ nodes: [node('n1')], lvgs }).lvmVolumeGroups![0]!.unschedulable).toBe(true);
  });
  test('[8] marks a cordoned node and keeps it in the list', () => {
    expect(only({ nodes: [node('n1', { unschedulable: true })] }).unschedulable).toBe(true);
    expect(only({ nodes: [node('n1', { unschedulable: false })] }).unschedulable).toBe(false);
  });
  test('[9] [10] reports an agent as ready only if the map says so', () => {
    const nodes = [node('n1')];
    expect(only({ nodes, agentReadyByNode: new Map([['n1', false]]) }).agentReady).toBe(false);
    expect(only({ nodes, agentReadyByNode: new Map([['n2', true]]) }).agentReady).toBe(false);
  });
  test('[11] lists a volume group that is not Ready as not ready', () => {
    const lvgs = [lvg('vg', 'n1', { ready: 'False' })];
    expect(only({ nodes: [node('n1')], lvgs }).lvmVolumeGroups![0]!.ready).toBe(false);
  });
  test.each([true, false])('[12] [13] LVMThin: the thin pool is ready: %s', (ready) => {
    const lvgs = [lvg('vg', 'n1', { thinPools: { tp: ready } })];
    const entry = only({ rsp: pool('p', ['vg/tp']), nodes: [node('n1')], lvgs });
    expect(entry.lvmVolumeGroups).toEqual([{ name: 'vg', thinPoolName: 'tp', unschedulable: false, ready }]);
  });
  test('[14] has no expiry while all nodes are Ready', () => {
    expect(compute({ nodes: [node('n1'), node('n2')] }).worldStateExpiresAt).toBeUndefined();
  });
  test('[15] is valid until transition + grace', () => {
    const nodes = [node('n1', { ready: 'False', since: M })];
    expect(compute({ nodes }, at(2 * M)).worldStateExpiresAt).toBe(at(M + GRACE));
  });
  test('[16] keeps the order of the input nodes, which are sorted by name', () => {
    const names = compute({ nodes: [node('a'), node('b')] }).eligibleNodes.map(({ nodeName }) => nodeName);
    expect(names).toEqual(['a', 'b']);
  });
  test('expires at the earliest end of a grace period, in any order, ignoring expired ones', () => {
    const states = { old: 0, late: 9 * M, early: 7 * M };
    const made = Object.entries(states).map(([name, since]) => node(name, { ready: 'Unknown', since }));
    for (const nodes of [made, made.toReversed()]) {
      const actual = compute({ nodes }, at(10 * M));
      expect(actual.worldStateExpiresAt).toBe(at(7 * M + GRACE));
      expect(actual.eligibleNodes).toHaveLength(2);
    }
  });
  test('returns an empty list without nodes', () => {
    expect(compute({ nodes: [] })).toMatchObject({ eligibleNodes: [], worldStateExpiresAt: undefined });
  });
  test('lists a node whose agent, cordon and volume groups are all unfit: these facts do not filter', () => {
    const nodes = [node('n1', { unschedulable: true })];
    expect(only({ nodes, lvgs: [lvg('vg', 'n1', { ready: 'False' })] })).toMatchObject({ agentReady: false });
  });
});

describe('isNodeReadyOrWithinGrace', () => {
  const state = (parts: Parameters<typeof node>[1], now: number, grace: number = GRACE) =>
    isNodeReadyOrWithinGrace(node('n', parts), millis(grace), at(now));
  const until = (since: number) => ({ kind: 'withinGrace', until: at(since) });
  const expired = (since: number) => ({ kind: 'expired', since: at(since) });
  const NO_CONDITION = { ready: null, createdAt: 2 * M } as const;

  test.each([
    ['[31] Ready', { ready: 'True' }, 0, GRACE, { kind: 'ready' }],
    [
      'a node that has been Ready for any time is listed',
      { ready: 'True', since: 0 },
      1e12,
      0,
      { kind: 'ready' },
    ],
    [
      '[32] ⚡ without a condition, the creation time counts as the transition',
      NO_CONDITION,
      3 * M,
      GRACE,
      until(2 * M + GRACE),
    ],
    [
      '⚡ without a condition, one millisecond before the end of the grace period',
      NO_CONDITION,
      2 * M + GRACE - 1,
      GRACE,
      until(2 * M + GRACE),
    ],
    [
      '⚡ without a condition, at the end of the grace period',
      NO_CONDITION,
      2 * M + GRACE,
      GRACE,
      expired(2 * M + GRACE),
    ],
    ['[33] past the grace period', { ready: 'False' }, 10 * M, GRACE, expired(GRACE)],
    ['[34] within the grace period', { ready: 'False', since: M }, 2 * M, GRACE, until(M + GRACE)],
    [
      'one millisecond before the end, the node is listed',
      { ready: 'False' },
      GRACE - 1,
      GRACE,
      until(GRACE),
    ],
    ['⚡ at the end, the node is omitted', { ready: 'False' }, GRACE, GRACE, expired(GRACE)],
    [
      'one millisecond after the end, the node is omitted',
      { ready: 'False' },
      GRACE + 1,
      GRACE,
      expired(GRACE),
    ],
    ['Unknown is not Ready', { ready: 'Unknown' }, 1, GRACE, until(GRACE)],
    ['Unknown expires like False', { ready: 'Unknown' }, GRACE, GRACE, expired(GRACE)],
    [
      'without a transition time, the creation time counts',
      { ready: 'False', since: null, createdAt: M },
      M,
      GRACE,
      until(M + GRACE),
    ],
    [
      'without transition and creation time, the transition counts as long ago',
      { ready: 'False', since: null, createdAt: null },
      0,
      GRACE,
      { kind: 'expired', since: GRACE },
    ],
    [
      'without a grace period, the node is omitted immediately',
      { ready: 'False', since: 0 },
      0,
      0,
      expired(0),
    ],
    [
      'a transition in the future counts as now',
      { ready: 'False', since: 60 * M },
      M,
      GRACE,
      until(M + GRACE),
    ],
    [
      'a creation in the future counts as now',
      { ready: null, createdAt: 60 * M },
      M,
      GRACE,
      until(M + GRACE),
    ],
    [
      'a transition in the future without a grace period',
      { ready: 'False', since: 60 * M },
      M,
      0,
      expired(M),
    ],
  ] as const)('%s', (_rule, parts, now, grace, expected) => {
    expect(state(parts, now, grace)).toEqual(expected);
  });

  test('an invalid transition time counts as unknown', () => {
    const odd = node('n', { ready: 'False', createdAt: M });
    odd.status!.conditions![1]!.lastTransitionTime = 'yesterday';
    expect(isNodeReadyOrWithinGrace(odd, GRACE, at(M))).toEqual(until(M + GRACE));
  });
  test('a grace period of 290 years results in a valid instant', () => {
    expect(state({ ready: 'False' }, 0, 290 * 365 * 24 * 60 * M)).toMatchObject({ kind: 'withinGrace' });
  });
});

describe('isAgentReady', () => {
  test.each([
    ['[108] Ready is True', {}, true],
    ['[109] Ready is False', { ready: 'False' }, false],
    ['[110] no Ready condition', { ready: null }, false],
    ['⚡ a terminating Pod that still reports Ready', { terminating: true }, false],
  ] as const)('%s', (_rule, parts, expected) => {
    expect(isAgentReady(agent('a', 'n1', { ...parts, namespace: AGENTS }))).toBe(expected);
  });
});

describe('hasSystemNetworks', () => {
  test.each([
    ['every node has the default network', ['Internal'], true],
    ['no network is requested', [], true],
    ['another network is unknown', ['Storage'], false],
    ['several other networks are unknown', ['Internal', 'Storage'], false],
  ])('%s', (_rule, names, expected) => {
    expect(hasSystemNetworks(node('n1'), names)).toBe(expected);
  });
});
