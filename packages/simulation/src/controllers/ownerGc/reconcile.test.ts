// The simulated garbage collector: the remaining objects of each shape once all work is done.

import { world } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import { createOwnerGc } from './controller.ts';
import { Bench } from './graphs.testkit.ts';
import { SHAPES } from './shapes.testkit.ts';

describe('garbage collector', async () => {
  const shapes = Object.values(SHAPES);
  const made = await world({ controllers: [createOwnerGc()], enforceRights: true });
  const bench = new Bench(made.user);
  made.manager.start();
  await bench.prepare(() => made.pass(100));
  await bench.build(shapes);
  await made.pass(20_000);
  await bench.delete(shapes);
  await made.pass(60_000);
  const left = await bench.survivors(shapes.length);
  await made.close();

  test.each(Object.entries(SHAPES).map(([name, shape], i) => ({ name, shape, is: left[i] })))(
    '$name',
    ({ shape, is }) => expect(is).toEqual(shape.left),
  );
});
