import { test } from 'vitest';
import { hours } from '#base/instant';
import { STANDINS, standinsNamed } from '#standins/standins';
import { simulate } from './simulate.ts';
test('idle', async () => {
  for (const names of [[], ...STANDINS.map(({ name }) => [name])]) {
    const sim = await simulate({ standins: standinsNamed(names) });
    await sim.timePasses(hours(1));
    let requests = 0;
    const handle = sim.server.handle;
    void handle;
    const t = performance.now();
    await sim.timePasses(hours(100));
    console.log(names.join() || 'none', 'idle ms', Math.round(performance.now() - t), requests);
  }
}, 100_000);
