import { millis } from '@lapse/base/instant';
import { describe, expect, it } from 'vitest';
import { manualClock, settle } from './testkit.ts';
import { watchSilence } from './watchdog.ts';

/** A source that the test feeds manually. */
function manualSource() {
  const waiting: ((result: IteratorResult<number>) => void)[] = [];
  return {
    give: (value: number) => waiting.shift()?.({ done: false, value }),
    source: {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<number>>((resolve) => waiting.push(resolve)),
        return: async () => ({ done: true as const, value: undefined }),
      }),
    },
  };
}

function watched() {
  const clock = manualClock();
  const { give, source } = manualSource();
  let silent = 0;
  const stream = watchSilence(source, { clock, limit: millis(1000), onSilent: () => silent++ });
  return { clock, give, iterator: stream[Symbol.asyncIterator](), silent: () => silent };
}

describe('watchSilence', () => {
  it('a wait of the full limit is silence; one millisecond less is not', async () => {
    const { clock, iterator, silent } = watched();
    void iterator.next();
    await clock.advance(millis(999));
    expect(silent()).toBe(0);
    await clock.advance(millis(1));
    expect(silent()).toBe(1);
  });

  it('every item restarts the timeout', async () => {
    const { clock, give, iterator, silent } = watched();
    for (let i = 0; i < 5; i++) {
      const next = iterator.next();
      await clock.advance(millis(900));
      give(i);
      expect((await next).value).toBe(i);
    }
    expect(silent()).toBe(0);
  });

  it('a slow consumer is not a silent server', async () => {
    const { clock, give, iterator, silent } = watched();
    const first = iterator.next();
    give(1);
    await first;
    await clock.advance(millis(10_000));
    expect(silent()).toBe(0);
    void iterator.next();
    await clock.advance(millis(999));
    expect(silent()).toBe(0);
    await clock.advance(millis(1));
    expect(silent()).toBe(1);
  });

  it('leaves no timer behind when the consumer stops', async () => {
    const { clock, iterator } = watched();
    void iterator.next();
    await settle();
    expect(clock.sleepers).toBe(1);
    await iterator.return?.();
    expect(clock.sleepers).toBe(0);
  });

  it('a step of the wall clock is not silence', async () => {
    const { clock, iterator, silent } = watched();
    void iterator.next();
    clock.step(millis(3_600_000));
    await clock.advance(millis(0));
    expect(silent()).toBe(0);
    await clock.advance(millis(1000));
    expect(silent()).toBe(1);
  });
});
