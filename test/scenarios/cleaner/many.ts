// Many Cleaners at once.

import { hours, minutes } from '@lapse/base/instant';
import { Cleaner } from 'lapse/api/cleaner';
import { expect } from 'vitest';
import type { Scene } from '../scene.ts';
import { begin, cleaner, target } from './kit.ts';

/** A process that is restarted beside `count` waiting Cleaners, a tenth of which expires every hour. */
export async function restartWith(scene: Scene, count: number): Promise<void> {
  begin(scene);
  const one = (_: unknown, i: number) =>
    cleaner(
      { ttl: `${1 + (i % 10)}h`, targets: [target('a', `map-${i}`, { delete: true })] },
      { name: `c${i}` },
    );
  await scene.given.object(Array.from({ length: count }, one));
  await scene.when.processCrashes({ downFor: minutes(90) });
  const simulation = await scene.simulation();
  const left = async () => (await simulation.user.list(Cleaner)).items.length;
  expect(await left()).toBe(count * 0.9);
  await simulation.stop();
  const [requests, reconciles] = [simulation.requests.length, simulation.reconciles.length];
  await simulation.restart();
  // Their status has all that is needed: no Cleaner is reconciled, and no request about targets is sent.
  expect(simulation.reconciles.length).toBe(reconciles);
  const asked = simulation.requests.slice(requests).filter(({ resource }) => resource !== 'cleaners');
  expect(asked.map(({ path }) => path).filter((path) => path !== '/version')).toEqual([]);
  await scene.when.timePasses(hours(10));
  expect(await left()).toBe(0);
}
