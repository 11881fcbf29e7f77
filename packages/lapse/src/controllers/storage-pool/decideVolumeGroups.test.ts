import { describe, expect, test } from 'vitest';
import { buildLVGByNodeMap, isLVGReady, isLVGUnschedulable } from './decide.ts';
import { lvg, lvgMap, pool } from './pool.testkit.ts';

describe('buildLVGByNodeMap', () => {
  const build = (references: string[], ...lvgs: ReturnType<typeof lvg>[]) =>
    Object.fromEntries(buildLVGByNodeMap(pool('p', references), lvgMap(...lvgs)));
  const entry = (name: string, more: object = {}) => ({ name, unschedulable: false, ready: true, ...more });

  test('[17] is empty without volume groups', () => {
    expect(build(['vg'])).toEqual({});
  });
  test('[18] contains a volume group under its node', () => {
    expect(build(['vg'], lvg('vg', 'n1'))).toEqual({ n1: [entry('vg')] });
  });
  test('[19] omits a volume group that the pool does not refer to', () => {
    expect(build(['vg'], lvg('vg', 'n1'), lvg('other', 'n1'))).toEqual({ n1: [entry('vg')] });
  });
  test('[20] omits a volume group without a node', () => {
    expect(build(['vg'], lvg('vg', ''))).toEqual({});
  });
  test('[21] sorts three volume groups on one node by name', () => {
    const lvgs = ['vg-c', 'vg-a', 'vg-b'].map((name) => lvg(name, 'n1'));
    expect(build(['vg-c', 'vg-a', 'vg-b'], ...lvgs).n1!.map(({ name }) => name)).toEqual([
      'vg-a',
      'vg-b',
      'vg-c',
    ]);
  });
  test('sorts in byte order: upper case before lower case, a hyphen before letters', () => {
    const lvgs = ['vgb', 'vg-b', 'vg.b', 'vg0'].map((name) => lvg(name, 'n1'));
    const names = build(['vgb', 'vg-b', 'vg.b', 'vg0'], ...lvgs).n1!.map(({ name }) => name);
    expect(names).toEqual(['vg-b', 'vg.b', 'vg0', 'vgb']);
  });
  test('[22] takes readiness from the volume group', () => {
    expect(build(['vg'], lvg('vg', 'n1', { ready: 'False' }))).toEqual({
      n1: [entry('vg', { ready: false })],
    });
  });
  test('[23] reports a thin pool that is not ready, by its name', () => {
    const made = build(['vg/tp'], lvg('vg', 'n1', { thinPools: { tp: false } }));
    expect(made).toEqual({ n1: [entry('vg', { thinPoolName: 'tp', ready: false })] });
  });
  test('[24] reports the unschedulable annotation', () => {
    const annotations = { 'storage.deckhouse.io/lvmVolumeGroupUnschedulable': 'x' };
    expect(build(['vg'], lvg('vg', 'n1', { annotations })).n1![0]!.unschedulable).toBe(true);
  });
  test('has one entry per thin pool, sorted, and counts duplicate references once', () => {
    const vg = lvg('vg', 'n1', { thinPools: { a: true, b: false } });
    expect(build(['vg/b', 'vg/a', 'vg/b'], vg)).toEqual({
      n1: [entry('vg', { thinPoolName: 'a' }), entry('vg', { thinPoolName: 'b', ready: false })],
    });
  });
  test('contains the volume groups of one pool on several nodes', () => {
    expect(build(['x', 'y'], lvg('x', 'n1'), lvg('y', 'n2'))).toEqual({ n1: [entry('x')], n2: [entry('y')] });
  });
});

describe('isLVGReady', () => {
  test.each([
    ['[25] no Ready condition', 'LVM', { ready: null }, undefined, false],
    ['[26] Ready is False', 'LVM', { ready: 'False' }, undefined, false],
    ['[27] Ready is True', 'LVM', { ready: 'True' }, undefined, true],
    ['[28] Ready is True and the thin pool is ready', 'LVMThin', { thinPools: { tp: true } }, 'tp', true],
    [
      '[29] Ready is True and the thin pool is not ready',
      'LVMThin',
      { thinPools: { tp: false } },
      'tp',
      false,
    ],
    [
      '[30] Ready is True and the thin pool is not in the status',
      'LVMThin',
      { specThinPools: ['tp'] },
      'tp',
      false,
    ],
    [
      'Ready is False and the thin pool is ready',
      'LVMThin',
      { ready: 'False', thinPools: { tp: true } },
      'tp',
      false,
    ],
    ['⚡ the type of the pool decides, not the reference', 'LVM', { thinPools: { tp: false } }, 'tp', true],
    ['⚡ LVMThin without the name of a thin pool', 'LVMThin', { thinPools: { tp: true } }, undefined, false],
  ] as const)('%s', (_rule, type, parts, thinPoolName, expected) => {
    const group = lvg('vg', 'n1', parts as Parameters<typeof lvg>[2]);
    expect(isLVGReady(group, type, thinPoolName === undefined ? {} : { thinPoolName })).toBe(expected);
  });
  test('a volume group without a status is not ready', () => {
    const { status: _, ...fresh } = lvg('vg', 'n1');
    expect(isLVGReady(fresh, 'LVM', {})).toBe(false);
  });
});

describe('isLVGUnschedulable', () => {
  test.each([
    ['no annotations', undefined, false],
    ['another annotation', { 'example.com/unschedulable': 'true' }, false],
    [
      '⚡ the annotation with an empty value',
      { 'storage.deckhouse.io/lvmVolumeGroupUnschedulable': '' },
      true,
    ],
    ['the annotation with any value', { 'storage.deckhouse.io/lvmVolumeGroupUnschedulable': 'false' }, true],
    [
      'the annotation name that existing clusters use',
      { 'sds-replicated-volume.deckhouse.io/unschedulable': '' },
      true,
    ],
  ])('%s', (_rule, annotations, expected) => {
    expect(isLVGUnschedulable(lvg('vg', 'n1', annotations === undefined ? {} : { annotations }))).toBe(
      expected,
    );
  });
});
