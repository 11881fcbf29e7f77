// A value without errors is validated once; a value with errors is validated each time, with its current path.

import type { JsonObject } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { cacheValid } from './cacheValid.ts';

test('validates values with errors every time, and values without errors once', () => {
  const looked: JsonObject[] = [];
  const check = cacheValid((value: JsonObject, path: string) => {
    looked.push(value);
    return value['bad'] === true ? [`${path}.bad`] : [];
  });
  expect([check({ bad: true }, 'a'), check({ bad: true }, 'b')]).toEqual([['a.bad'], ['b.bad']]);
  expect([check({ n: 1 }, 'a'), check({ n: 1 }, 'b'), check({ n: 2 }, 'a')]).toEqual([[], [], []]);
  expect(looked).toEqual([{ bad: true }, { bad: true }, { n: 1 }, { n: 2 }]);
});

test('distinguishes integers that a double cannot represent', () => {
  const check = cacheValid((value: JsonObject) => (value['n'] === 9007199254740993n ? ['odd'] : []));
  expect([check({ n: 9007199254740992n }, ''), check({ n: 9007199254740993n }, '')]).toEqual([[], ['odd']]);
});
