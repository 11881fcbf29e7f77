// Specification of validation errors, their order and messages.

import { minutes } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { lvg, lvgMap, pool } from './pool.testkit.ts';
import { validateLimits, validateRSPAndLVGs } from './validate.ts';

const thin = (...names: string[]) => lvg('vg', 'n1', { specThinPools: names });
const validate = (rsp: ReplicatedStoragePool, ...lvgs: ReturnType<typeof lvg>[]) => {
  const validation = validateRSPAndLVGs(rsp, lvgMap(...lvgs));
  return validation.kind === 'valid' ? 'valid' : [validation.reason, validation.message];
};

describe('volume groups', () => {
  test('[35] LVM with an existing volume group is valid', () => {
    expect(validate(pool('p', ['vg']), lvg('vg', 'n1'))).toBe('valid');
  });
  test('[59] [60] an empty list of references is valid', () => {
    expect(validate(pool('p', []))).toBe('valid');
  });
  test('[61] [63] all references are found in any order', () => {
    const groups = [lvg('b', 'n1'), lvg('a', 'n1')];
    expect(validate(pool('p', ['a', 'b']), ...groups)).toBe('valid');
    expect(validate(pool('p', ['b', 'a']), ...groups.toReversed())).toBe('valid');
  });
  test('[38] LVMThin with an existing thin pool is valid', () => {
    expect(validate(pool('p', ['vg/tp']), thin('other', 'tp'))).toBe('valid');
  });
  test('[36] LVMThin without the name of a thin pool is invalid', () => {
    expect(validate(pool('p', ['vg'], { type: 'LVMThin' }), thin('tp'))).toEqual([
      'InvalidLVMVolumeGroup',
      'RSP/LVG validation failed: LVMVolumeGroup "vg": thinPoolName is required for LVMThin type',
    ]);
  });
  test.each([[['other']], [[]]])(
    '[37] LVMThin with a thin pool that is not in the spec is invalid: %j',
    (names) => {
      expect(validate(pool('p', ['vg/tp']), thin(...names))).toEqual([
        'InvalidLVMVolumeGroup',
        'RSP/LVG validation failed: LVMVolumeGroup "vg": thinPool "tp" not found in Spec.ThinPools',
      ]);
    },
  );
  test('a thin pool in the status only does not count', () => {
    const group = lvg('vg', 'n1', { thinPools: { tp: true }, specThinPools: [] });
    expect(validate(pool('p', ['vg/tp']), group)[0]).toBe('InvalidLVMVolumeGroup');
  });
  test('the first invalid reference in the order of the spec is reported', () => {
    const [, message] = validate(pool('p', ['vg/b', 'vg/a']), thin());
    expect(message).toContain('thinPool "b"');
  });
  test('LVM ignores thin pools', () => {
    expect(validate(pool('p', ['vg/tp'], { type: 'LVM' }), lvg('vg', 'n1'))).toBe('valid');
  });
  test('[39] ⚡ [62] all missing volume groups are reported once, sorted, one per line', () => {
    expect(validate(pool('p', ['z', 'vg', 'a', 'z']), lvg('vg', 'n1'))).toEqual([
      'LVMVolumeGroupNotFound',
      'Some LVMVolumeGroups not found: LVMVolumeGroup "a" not found\nLVMVolumeGroup "z" not found',
    ]);
  });
});

describe('the grace period', () => {
  const grace = (text: string) => {
    const validation = validateRSPAndLVGs(pool('p', ['vg'], { grace: text }), lvgMap(lvg('vg', 'n1')));
    return validation.kind === 'valid' ? validation.gracePeriod : [validation.reason, validation.message];
  };
  test.each([
    ['10m', minutes(10)],
    ['1h30m', minutes(90)],
    ['0s', 0],
    ['0', 0],
    ['1.5s', 1500],
    ['1ns', 1],
    ['1000001ns', 2],
    ['2562047h47m16.854775807s', 9_223_372_036_855],
  ])('%s', (text, expected) => {
    expect(grace(text)).toBe(expected);
  });
  test.each([
    ['-1s', 'notReadyGracePeriod "-1s" is negative'],
    ['', 'notReadyGracePeriod: time: invalid duration ""'],
    ['10', 'notReadyGracePeriod: time: missing unit in duration "10"'],
    ['10 m', 'notReadyGracePeriod: time: unknown unit " m" in duration "10 m"'],
    ['1d', 'notReadyGracePeriod: time: unknown unit "d" in duration "1d"'],
    ['PT10M', 'notReadyGracePeriod: time: invalid duration "PT10M"'],
    ['9999999h', 'notReadyGracePeriod: time: invalid duration "9999999h"'],
  ])('%j is rejected', (text, message) => {
    expect(grace(text)).toEqual(['InvalidEligibleNodesPolicy', `Invalid EligibleNodesPolicy: ${message}`]);
  });
  test('a pool without a policy has the default grace period', () => {
    const rsp = pool('p', ['vg']);
    const { eligibleNodesPolicy: _, ...spec } = rsp.spec;
    const validation = validateRSPAndLVGs({ ...rsp, spec: spec as typeof rsp.spec }, lvgMap(lvg('vg', 'n1')));
    expect(validation).toMatchObject({ kind: 'valid', gracePeriod: minutes(10) });
  });
});

test('the first failure is reported: volume groups, thin pools, selector, zones, grace period', () => {
  const wrong = (parts: Parameters<typeof pool>[2], ...lvgs: ReturnType<typeof lvg>[]) =>
    validate(pool('p', ['vg/tp'], { grace: 'x', ...parts }), ...lvgs);
  const nodeLabelSelector = { matchLabels: { 'not a key': 'x' } };
  const zones = ['not a zone'];
  expect(wrong({ nodeLabelSelector, zones })[0]).toBe('LVMVolumeGroupNotFound');
  expect(wrong({ nodeLabelSelector, zones }, thin())[0]).toBe('InvalidLVMVolumeGroup');
  expect(wrong({ nodeLabelSelector, zones }, thin('tp'))[1]).toContain('Invalid NodeLabelSelector: ');
  expect(wrong({ zones }, thin('tp'))[1]).toContain('Invalid Zones: ');
  expect(wrong({}, thin('tp'))[0]).toBe('InvalidEligibleNodesPolicy');
});

describe('limits', () => {
  const entry = (nodeName: string, groups = 0) => ({
    nodeName,
    nodeReady: true,
    unschedulable: false,
    agentReady: false,
    lvmVolumeGroups: Array.from({ length: groups }, (_, i) => ({
      name: `vg${i}`,
      unschedulable: false,
      ready: true,
    })),
  });
  const nodes = (count: number) => Array.from({ length: count }, (_, i) => entry(`n${i}`));
  test.each([
    ['1,000 nodes are accepted', nodes(1000), undefined],
    ['1,001 nodes are rejected', nodes(1001), 'Too many eligible nodes: 1001, at most 1000'],
    ['50 volume groups on a node are accepted', [entry('n1', 50)], undefined],
    [
      '51 volume groups on a node are rejected',
      [entry('n1'), entry('n2', 51)],
      'Too many LVMVolumeGroups on node "n2": 51, at most 50',
    ],
  ])('%s', (_rule, list, message) => {
    const expected =
      message === undefined ? undefined : { kind: 'invalid', reason: 'TooManyEligibleNodes', message };
    expect(validateLimits(list)).toEqual(expected);
  });
});
