// The CRDs on the embedded API server. storagePool.kube.ts runs the same cases on a real one.

import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { objectOf } from '@lapse/kube/client/client';
import { type World, world } from '@lapse/runtime/world.testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lvmVolumeGroup } from '#api/lvmVolumeGroup';
import { replicatedStoragePool } from '#api/replicatedStoragePool';
import { CRD_CASES, createLeast, LEAST_SPEC, tryCase } from './crdCases.testkit.ts';

describe('the CRDs', () => {
  let w: World;
  beforeAll(async () => {
    w = await world();
    for (const { crd } of [replicatedStoragePool, lvmVolumeGroup])
      objectOf(await w.user.create(CustomResourceDefinition, crd as CustomResourceDefinition));
    await w.settle();
  });
  afterAll(() => w.close());

  test.each(CRD_CASES.map((each, i) => ({ ...each, i })))('$rule', async ({ i, ...each }) => {
    const said = await tryCase(w.user, each, `case-${i}`);
    if (each.refused === undefined) expect(said).toBe('');
    else expect(said).toContain(each.refused);
  });

  test('defaults', async () => {
    expect(await createLeast(w.user)).toEqual(LEAST_SPEC);
  });
});
