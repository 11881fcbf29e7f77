import { hours, millis, seconds } from '@lapse/base/instant';
import { refuse } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import { inKit, type Kit } from './deletes.testkit.ts';

describe('dry run', () => {
  test(
    'sends dry-run DELETEs, deletes nothing, and emits one Event per object and deadline',
    inKit({ dryRun: true }, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      await k.pass(2000);
      k.manager.enqueueAll('again');
      await k.pass(1000);
      expect(k.deletions).toEqual(['a wouldDelete', 'a wouldDelete']);
      expect(k.asked('a')).toEqual(['DELETE']);
      expect(k.events.map(({ note }) => note.reason)).toEqual(['WouldDelete']);
      expect([k.deleted, (await k.get('a'))?.metadata.name]).toEqual([[], 'a']);
      await k.extend('a', 5000);
      await k.pass(10_000);
      expect(k.events).toHaveLength(2);
      expect(k.manager.registry.text()).toContain(
        'lapse_deletions_total{controller="ends",outcome="deleted"} 0',
      );
    }),
  );
});

describe('budgets', () => {
  test(
    'deletes every object, never exceeds the rate per second, and needs few reconciles',
    inKit({ budget: { perSecond: 5 } }, async (k) => {
      for (let i = 0; i < 40; i++) await k.put(`a${i}`, 1000);
      k.manager.start();
      await k.pass(20_000);
      expect(k.deleted).toHaveLength(40);
      const times = k.deleted.map(({ at }) => at);
      for (let i = 5; i < times.length; i++) expect(times[i]! - times[i - 5]!).toBeGreaterThanOrEqual(1000);
      expect(k.deletions.filter((d) => d.endsWith('held: budget'))).toHaveLength(35);
      expect(times.at(-1)! - times[0]!).toBeLessThan(8000);
    }),
  );

  test(
    'keeps an object whose deadline is extended while it waits for the budget',
    inKit({ budget: { perMinute: 1 } }, async (k) => {
      await k.put('a', 1000);
      await k.put('b', 1000);
      k.manager.start();
      await k.pass(2000);
      const [first] = k.deleted;
      const other = first!.name === 'a' ? 'b' : 'a';
      await k.extend(other, 600_000);
      await k.pass(300_000);
      expect(await k.get(other)).toBeDefined();
    }),
  );
});

describe('clocks', () => {
  test(
    "with the local clock 29 s ahead, nothing is deleted early by the API server's clock, nor much later",
    inKit({ guarded: true }, async (k) => {
      k.own.set(seconds(29));
      await k.put('a', 100_000);
      k.manager.start();
      await k.pass(99_000);
      expect(k.deleted).toEqual([]);
      await k.pass(4000);
      expect(k.deleted).toHaveLength(1);
      expect(k.deleted[0]!.at).toBeGreaterThanOrEqual(100_000);
      expect(k.deleted[0]!.at).toBeLessThanOrEqual(102_000);
    }),
  );

  test(
    'with the local clock 29 s behind, deletions are late but never early',
    inKit({ guarded: true }, async (k) => {
      k.own.set(millis(-seconds(29)));
      await k.put('a', 100_000);
      k.manager.start();
      await k.pass(200_000);
      expect(k.deleted[0]!.at).toBe(129_000);
    }),
  );

  test.each([
    ['ahead', hours(1)],
    ['behind', millis(-hours(1))],
  ])(
    'with the local clock an hour %s, nothing is deleted, one Event is emitted, and deletions resume when the clock is corrected',
    (_where, off) =>
      inKit({ guarded: true }, async (k) => {
        await k.put('a', 10_000);
        await k.put('b', 10_000);
        k.own.set(off);
        k.manager.start();
        await k.pass(20_000);
        await k.extend('a', -1000);
        await k.pass(4_000_000);
        expect(k.deleted).toEqual([]);
        expect(
          k.deletions.every((d) => d.endsWith('held: clock skew') || d.endsWith('held: clock unknown')),
        ).toBe(true);
        expect(k.events.map(({ note }) => note.reason)).toEqual(['DeletionHeld']);
        expect(k.manager.registry.text()).toContain('lapse_clock_held 1');
        expect(k.requests.filter((r) => r.includes('/version')).length).toBeLessThan(1500);
        k.own.set(millis(-off));
        await k.pass(4_000_000);
        expect(k.deleted.map(({ name }) => name).sort()).toEqual(['a', 'b']);
        expect(k.manager.registry.text()).toContain('lapse_clock_held 0');
      })(),
  );

  test(
    "nothing is deleted before three responses have shown the API server's time",
    inKit({ guarded: true }, async (k) => {
      await k.put('a', -1000);
      k.manager.start();
      await k.pass(1000);
      const before = k.requests.slice(
        0,
        k.requests.findIndex((r) => r.startsWith('DELETE')),
      );
      expect(before.length).toBeGreaterThanOrEqual(3);
      expect(before.filter((r) => r.includes('/version')).length).toBeGreaterThan(0);
      expect(k.deleted).toHaveLength(1);
    }),
  );
});

test(
  'with rereadFirst, sends a GET and then a DELETE with the version that was read',
  inKit({ rereadFirst: true }, async (k) => {
    await k.put('a', 1000);
    k.manager.start();
    await k.pass(1000);
    expect(k.asked('a')).toEqual(['GET', 'DELETE']);
    expect(k.deletions).toEqual(['a deleted']);
  }),
);

test(
  'the due gauge counts a due object until it is gone',
  inKit({}, async (k) => {
    const due = () => /lapse_deletions_due\{controller="ends"\} (\d+)/.exec(k.manager.registry.text())![1];
    await k.put('a', 1000);
    k.manager.start();
    k.hook = ({ method }) => (method === 'DELETE' ? refuse(500, 'x') : undefined);
    await k.pass(2000);
    expect(due()).toBe('1');
    k.hook = () => undefined;
    await k.pass(10_000);
    expect(due()).toBe('0');
  }),
);

describe('the due gauges', () => {
  const shown = (k: Kit) =>
    ['lapse_deletions_due', 'lapse_deletions_oldest_due_seconds'].map((name) =>
      Number(new RegExp(`^${name}\\{controller="ends"\\} (.*)$`, 'm').exec(k.manager.registry.text())![1]),
    );

  test(
    'count an object that a finalizer keeps, until it is gone',
    inKit({}, async (k) => {
      await k.put('a', 1000, { finalizers: ['example.com/hold'] });
      k.manager.start();
      await k.pass(61_000);
      expect([k.deletions, shown(k)]).toEqual([['a terminating'], [0, 0]]);
      await k.pass(3_600_000);
      expect(shown(k)).toEqual([1, 3660]);
      await k.patch('a', { metadata: { finalizers: null } });
      await k.pass(1000);
      expect(shown(k)).toEqual([0, 0]);
    }),
  );

  test(
    'count nothing in a dry run',
    inKit({ dryRun: true }, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      await k.pass(2000);
      expect([k.deletions, shown(k)]).toEqual([['a wouldDelete'], [0, 0]]);
    }),
  );
});
