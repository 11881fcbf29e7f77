// As many Cleaners as the documented limits allow.

import { hours } from '@lapse/base/instant';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, ready, target } from './kit.ts';
import { restartWith } from './many.ts';

scenario('26. a thousand waiting Cleaners: waiting ones cost no request, due ones run', (scene) =>
  restartWith(scene, 1000),
);

scenario('more than a thousand deletions are refused as a whole', async (scene) => {
  begin(scene);
  const many = Array.from({ length: 1001 }, (_, i) => configMap(`m${i}`, { app: 'x' }));
  await scene.given.object([...many, cleaner({ targets: [target('m', { app: 'x' }, { delete: true })] })]);
  await scene.when.timePasses(hours(1));
  expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'BudgetExceeded' });
  expect(scene.then.requests('DELETE')).toEqual([]);
});
