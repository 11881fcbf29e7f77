// The CRDs on the embedded server; storagePool.kube.ts asks a real one the same.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CustomResourceDefinition } from '#api/kinds/builtin';
import { lvmVolumeGroup } from '#api/kinds/lvmVolumeGroup';
import { replicatedStoragePool } from '#api/kinds/replicatedStoragePool';
import { objectOf } from '#client/client';
import { type World, world } from '#runtime/world.testkit';
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
