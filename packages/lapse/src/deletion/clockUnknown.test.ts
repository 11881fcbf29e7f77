import { expect, test } from 'vitest';
import { inKit, type Kit } from './deletes.testkit.ts';

test.each([2500, 9000])(
  'deletes when every response takes %d ms, with a delay of at most the uncertainty of the clock',
  (latency) =>
    inKit({ guarded: true }, async (k) => {
      k.latency = latency;
      await k.put('a', 60_000);
      k.manager.start();
      await k.pass(300_000);
      expect(k.deletions.filter((deletion) => !deletion.includes('held'))).toEqual(['a deleted']);
      const { at } = k.deleted[0]!;
      expect(at).toBeGreaterThanOrEqual(60_000);
      expect(at).toBeLessThanOrEqual(60_000 + 5 * latency + 32_000);
    })(),
);

/** A proxy that removes the Date header. */
const withoutDate = (k: Kit) => async (request: Parameters<Kit['hook']>[0]) => {
  const answer = await k.server.handle(request);
  return { ...answer, headers: { ...answer.headers, date: '' } };
};

test(
  'reports an unknown clock once, by an Event, a log line, metrics and /readyz, until it is known',
  inKit({ guarded: true }, async (k) => {
    k.hook = withoutDate(k);
    await k.put('a', 1000);
    await k.put('b', 1000);
    k.manager.start();
    await k.pass(120_000);
    expect(new Set(k.deletions)).toEqual(new Set(['a held: clock unknown', 'b held: clock unknown']));
    const message =
      "nothing is deleted while the API server's clock is unknown: no answer has a usable Date header";
    expect(k.events.map(({ note }) => [note.reason, note.note])).toEqual([['DeletionHeld', message]]);
    expect(k.logged).toEqual(['warn deletions are held']);
    expect(k.manager.readiness().problems).toEqual([`clock: ${message}`]);
    expect(k.manager.registry.text()).toContain('lapse_clock_held 1');
    expect(k.manager.registry.text()).toContain('lapse_clock_unknown 1');
    k.hook = () => undefined;
    await k.pass(60_000);
    expect(k.deletions.slice(-2)).toEqual(['a deleted', 'b deleted']);
    expect(k.manager.readiness().problems).toEqual([]);
    expect(k.manager.registry.text()).toContain('lapse_clock_unknown 0');
  }),
);
