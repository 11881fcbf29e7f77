// Conditions that turn true and false, asserted to be monotonic. Even if the assertion is wrong, a Cleaner deletes
// nothing while its condition is false, before its TTL, or without an evaluation at that time.

import { formatTime, hours, instant, type Millis, millis } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import { simulate } from '@lapse/simulation/simulate';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { composeFamilies, findFamily } from '../compose.ts';
import { cleaner, configMap, target } from './kit.ts';

const DAYS = 20;

interface Window {
  readonly from: number;
  readonly to: number;
}
/** Hours since the start during which the condition is true. */
const windows = fc.array(
  fc.record({ from: fc.integer({ min: 0, max: DAYS * 24 }), length: fc.integer({ min: 1, max: 60 }) }),
  { minLength: 0, maxLength: 4 },
);

const isTrueAt = (all: readonly Window[], at: number): boolean => {
  const seconds = Math.floor((at - VIRTUAL_START) / 1000);
  return all.some(({ from, to }) => seconds >= from * 3600 && seconds < to * 3600);
};

/** As numbers, which the engine can only search, or as times, which it can compute with. */
function conditionOf(all: readonly Window[], opaque: boolean): string {
  const start = VIRTUAL_START / 1000;
  const time = (hour: number) => `timestamp("${formatTime(instant(VIRTUAL_START + hour * 3_600_000))}")`;
  const one = ({ from, to }: Window) =>
    opaque
      ? `(int(time) >= ${start + from * 3600} && int(time) < ${start + to * 3600})`
      : `(time >= ${time(from)} && time < ${time(to)})`;
  return all.length === 0 ? 'time < timestamp("2020-01-01T00:00:00Z")' : all.map(one).join(' || ');
}

async function deletedAt(condition: string, ttl: number, period: number): Promise<number | undefined> {
  const family = findFamily('cleaner');
  const configuration = { actAs: 'controller' };
  const compose = composeFamilies({ families: [family], controllers: [], configuration, gates: {} });
  const simulation = await simulate({ compose, kinds: family.kinds });
  try {
    const spec = {
      ttl: `${ttl}h`,
      targets: [target('a', 'a', { delete: true })],
      conditions: [condition],
      retry: { period: `${period}m`, monotonic: true },
    };
    await simulation.apply([configMap('a'), cleaner(spec)]);
    await simulation.timePasses(millis(DAYS * hours(24)) as Millis);
    return simulation.requests.find(({ verb, resource }) => verb === 'delete' && resource === 'configmaps')
      ?.at;
  } finally {
    await simulation.close();
  }
}

test('a Cleaner never deletes early, even if the monotonic assertion is wrong', async () => {
  await fc.assert(
    fc.asyncProperty(
      windows,
      fc.boolean(),
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 30, max: 2000 }),
      async (given, opaque, ttl, period) => {
        const all = given.map(({ from, length }) => ({ from, to: from + length }));
        const at = await deletedAt(conditionOf(all, opaque), ttl, period);
        if (at === undefined) return;
        expect(at).toBeGreaterThanOrEqual(VIRTUAL_START + hours(ttl));
        expect(isTrueAt(all, at)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

test('conditions that stay true are met within a second of turning true', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: DAYS * 24 - 30 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 100 }),
      async (from, opaque, ttl) => {
        const at = await deletedAt(conditionOf([{ from, to: 1_000_000 }], opaque), ttl, 300);
        const due = VIRTUAL_START + hours(Math.max(from, ttl));
        expect(at).toBeGreaterThanOrEqual(due);
        expect(at! - due).toBeLessThanOrEqual(1000);
      },
    ),
    { numRuns: 25 },
  );
});
