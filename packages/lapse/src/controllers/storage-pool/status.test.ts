// Specification of change detection: when the revision grows, what a condition says, and that an unchanged status is
// the same object.

import { formatTime } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { EligibleNode, ReplicatedStoragePoolStatus } from '#api/replicatedStoragePool';
import { at } from './pool.testkit.ts';
import {
  applyEligibleNodesAndIncrementRevisionIfChanged,
  applyLegacyFieldsCleared,
  applyReadyCondFalse,
  applyReadyCondTrue,
  areEligibleNodesEqual,
  areLVGsEqual,
} from './status.ts';
import type { Problem } from './validate.ts';

const entry = (nodeName: string, more: Partial<EligibleNode> = {}): EligibleNode => ({
  nodeName,
  nodeReady: true,
  unschedulable: false,
  agentReady: true,
  ...more,
});
const group = (name: string, more: object = {}) => ({ name, unschedulable: false, ready: true, ...more });

describe('applyEligibleNodesAndIncrementRevisionIfChanged', () => {
  const apply = applyEligibleNodesAndIncrementRevisionIfChanged;
  const status = (...eligibleNodes: EligibleNode[]): ReplicatedStoragePoolStatus => ({
    eligibleNodes,
    eligibleNodesRevision: 5,
  });

  test('[40] returns the same object for the same nodes', () => {
    const before = status(entry('n1'));
    expect(apply(before, [entry('n1')])).toBe(before);
  });
  test.each([
    ['[41] an added node', [entry('n1'), entry('n2')]],
    ['a removed node', []],
    ['another node', [entry('n2')]],
    ['[42] a change of nodeReady', [entry('n1', { nodeReady: false })]],
    ['a change of agentReady', [entry('n1', { agentReady: false })]],
    ['a change of unschedulable', [entry('n1', { unschedulable: true })]],
    ['a zone', [entry('n1', { zoneName: 'a' })]],
    ['a changed volume group', [entry('n1', { lvmVolumeGroups: [group('vg')] })]],
  ])('%s increments the revision once', (_rule, nodes) => {
    const before = status(entry('n1'));
    const after = apply(before, nodes);
    expect([after.eligibleNodes ?? [], after.eligibleNodesRevision]).toEqual([nodes, 6]);
    expect(apply(after, nodes)).toBe(after);
    expect(before).toEqual(status(entry('n1')));
  });
  test('the first nodes set the revision to 1', () => {
    expect(apply({}, [entry('n1')])).toEqual({ eligibleNodes: [entry('n1')], eligibleNodesRevision: 1 });
  });
  test('a pool that never had nodes has no revision', () => {
    const nothing = {};
    expect(apply(nothing, [])).toBe(nothing);
    const empty = { eligibleNodes: [] };
    expect(apply(empty, [])).toBe(empty);
  });
  test('an empty list is a change, and the field is removed', () => {
    expect(apply(status(entry('n1')), [])).toEqual({ eligibleNodesRevision: 6 });
  });
  test('fields of other writers are kept', () => {
    const usedBy = { replicatedStorageClassNames: ['x'] };
    expect(apply({ usedBy, phase: 'Completed' }, [entry('n1')])).toMatchObject({
      usedBy,
      phase: 'Completed',
    });
  });
  test.each([
    [Number.MAX_SAFE_INTEGER, 2n ** 53n],
    [2n ** 60n, 2n ** 60n + 1n],
  ])('a revision of %d still grows by exactly one', (revision, next) => {
    expect(apply({ eligibleNodesRevision: revision }, [entry('n1')]).eligibleNodesRevision).toBe(next);
  });
});

describe('equality', () => {
  test.each([
    ['[43] equal lists', [entry('a'), entry('b')], [entry('a'), entry('b')], true],
    ['[44] different lengths', [entry('a')], [entry('a'), entry('b')], false],
    ['[45] a differing agentReady', [entry('a')], [entry('a', { agentReady: false })], false],
    ['[46] two empty lists', [], [], true],
    ['the same nodes in another order', [entry('a'), entry('b')], [entry('b'), entry('a')], false],
    ['a missing zone and an empty one', [entry('a')], [entry('a', { zoneName: '' })], true],
    ['missing volume groups and an empty list', [entry('a')], [entry('a', { lvmVolumeGroups: [] })], true],
  ])('nodes: %s', (_rule, a, b, expected) => {
    expect(areEligibleNodesEqual(a, b)).toBe(expected);
    expect(areEligibleNodesEqual(b, a)).toBe(expected);
  });
  test.each([
    ['[47] equal lists', [group('x')], [group('x')], true],
    ['[48] different lengths', [group('x')], [], false],
    ['[49] a differing ready', [group('x')], [group('x', { ready: false })], false],
    ['[50] two empty lists', [], [], true],
    ['a differing name', [group('x')], [group('y')], false],
    ['a differing thin pool', [group('x', { thinPoolName: 'a' })], [group('x')], false],
    ['a differing unschedulable', [group('x', { unschedulable: true })], [group('x')], false],
  ])('volume groups: %s', (_rule, a, b, expected) => {
    expect(areLVGsEqual(a, b)).toBe(expected);
    expect(areLVGsEqual(b, a)).toBe(expected);
  });
});

describe('applyLegacyFieldsCleared', () => {
  test.each([
    [
      'both: the phase is kept until this controller replaces it',
      { phase: 'Completed', reason: 'x' },
      { phase: 'Completed' },
    ],
    ['only reason', { reason: 'x' }, {}],
  ])('%s', (_rule, legacy, expected) => {
    const rest = { eligibleNodesRevision: 3 };
    expect(applyLegacyFieldsCleared({ ...rest, ...legacy })).toEqual({ ...rest, ...expected });
  });
  test.each([{}, { phase: '', reason: '' }, { phase: 'Ready' }])(
    'returns the same object without legacy fields',
    (status) => {
      expect(applyLegacyFieldsCleared(status)).toBe(status);
    },
  );
});

describe('Ready', () => {
  const problem: Problem = { kind: 'invalid', reason: 'InvalidLVMVolumeGroup', message: 'because' };
  const on = (now: number, generation = 1) => ({ now: at(now), generation });
  const time = (since: number) => formatTime(at(since));
  const TRUE = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: 'Eligible nodes calculated successfully: 2 nodes',
    observedGeneration: 1,
    lastTransitionTime: time(0),
  };

  test('is set for the first time', () => {
    expect(applyReadyCondTrue({}, 2, on(0)).conditions).toEqual([TRUE]);
  });
  test.each([0, 1])('has a message with the count, without a singular: %d', (count) => {
    const [ready] = applyReadyCondTrue({}, count, on(0)).conditions!;
    expect(ready!.message).toBe(`Eligible nodes calculated successfully: ${count} nodes`);
  });
  test.each<[string, ReplicatedStoragePoolStatus]>([
    ['[67] with phase and message', { phase: 'Ready', message: TRUE.message }],
    ['with a CRD that has no message', { phase: 'Ready' }],
  ])('set again %s returns the same object', (_name, fields) => {
    const status = { conditions: [TRUE], ...fields };
    expect(applyReadyCondTrue(status, 2, on(60_000))).toBe(status);
  });
  test.each<[string, ReplicatedStoragePoolStatus]>([
    ['[64] phase and message are missing', {}],
    ['[65] another phase', { phase: 'Completed', message: TRUE.message }],
    ['[66] another message', { phase: 'Ready', message: 'old' }],
  ])('phase and message are those of the condition: %s', (_name, fields) => {
    const status = { conditions: [TRUE], ...fields };
    expect(applyReadyCondTrue(status, 2, on(60_000))).toEqual({
      conditions: [TRUE],
      phase: 'Ready',
      message: TRUE.message,
    });
  });
  test.each([
    ['LVMVolumeGroupNotFound', 'WaitingForLVMVolumeGroups'],
    ['InvalidLVMVolumeGroup', 'InvalidConfiguration'],
    ['InvalidNodeLabelSelector', 'InvalidConfiguration'],
    ['InvalidEligibleNodesPolicy', 'InvalidConfiguration'],
    ['TooManyEligibleNodes', 'InvalidConfiguration'],
  ] as const)('the phase for %s is %s', (reason, phase) => {
    expect(applyReadyCondFalse({}, { ...problem, reason }, on(0))).toMatchObject({
      phase,
      message: 'because',
    });
  });
  test('keeps the transition time when only message or generation change', () => {
    const status = { conditions: [TRUE] };
    expect(applyReadyCondTrue(status, 3, on(60_000)).conditions![0]!.lastTransitionTime).toBe(time(0));
    expect(applyReadyCondTrue(status, 2, on(60_000, 7)).conditions).toEqual([
      { ...TRUE, observedGeneration: 7 },
    ]);
  });
  test('has a new transition time when its status changes', () => {
    const status = { conditions: [TRUE], eligibleNodes: [entry('n1')], eligibleNodesRevision: 4 };
    const after = applyReadyCondFalse(status, problem, on(60_000));
    expect(after.conditions).toEqual([
      {
        type: 'Ready',
        status: 'False',
        reason: 'InvalidLVMVolumeGroup',
        message: 'because',
        observedGeneration: 1,
        lastTransitionTime: time(60_000),
      },
    ]);
    expect([after.eligibleNodes, after.eligibleNodesRevision]).toEqual([[entry('n1')], 4]);
  });
  test('keeps the transition time when only the reason changes', () => {
    const first = applyReadyCondFalse({}, problem, on(0));
    const second = applyReadyCondFalse(first, { ...problem, reason: 'LVMVolumeGroupNotFound' }, on(60_000));
    expect(second.conditions![0]).toMatchObject({
      reason: 'LVMVolumeGroupNotFound',
      lastTransitionTime: time(0),
    });
  });
  test('keeps the position of conditions of other controllers', () => {
    const other = (type: string) => ({ ...TRUE, type });
    const status = { conditions: [other('A'), TRUE, other('B')] };
    const types = (next: ReplicatedStoragePoolStatus) => next.conditions!.map(({ type }) => type);
    expect(types(applyReadyCondTrue(status, 9, on(0)))).toEqual(['A', 'Ready', 'B']);
    expect(types(applyReadyCondTrue({ conditions: [other('A')] }, 9, on(0)))).toEqual(['A', 'Ready']);
  });
  test('sets a missing transition time', () => {
    const { lastTransitionTime: _, ...odd } = TRUE;
    expect(applyReadyCondTrue({ conditions: [odd] }, 2, on(5000)).conditions![0]!.lastTransitionTime).toBe(
      time(5000),
    );
  });
  test.each([
    ['of the maximum length is kept', 'x'.repeat(32_768), 'x'.repeat(32_768)],
    ['longer', 'x'.repeat(40_000), `${'x'.repeat(32_767)}…`],
    ['is measured in characters, not in UTF-16 code units', '😀'.repeat(32_768), '😀'.repeat(32_768)],
  ])('a message %s', (_rule, message, expected) => {
    expect(applyReadyCondFalse({}, { ...problem, message }, on(0)).conditions![0]!.message).toBe(expected);
  });
});
