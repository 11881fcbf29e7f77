// Detects a silent stream: a half-open connection delivers neither bytes nor an end.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Millis, millis, plus } from '@lapse/base/instant';

/**
 * Calls `onSilent` once when the consumer has waited `limit` for the next item. Only time spent waiting counts: a slow
 * consumer is not a silent server.
 */
export function watchSilence<T>(
  source: AsyncIterable<T>,
  options: { clock: Clock; limit: Millis; onSilent: () => void },
): AsyncIterable<T> {
  const { clock, limit, onSilent } = options;
  return {
    [Symbol.asyncIterator](): AsyncIterator<T> {
      const iterator = source[Symbol.asyncIterator]();
      let waitingSince: number | undefined;
      let cancel: Cancel | undefined;
      // One timer per stream instead of one per item: it checks how long the present wait has lasted and rearms itself.
      const check = () => {
        cancel = undefined;
        if (waitingSince === undefined) return;
        const left = limit - (clock.elapsed() - waitingSince);
        if (left <= 0) onSilent();
        else arm(millis(left));
      };
      const arm = (delay: Millis) => {
        cancel = clock.wakeAt(plus(clock.now(), delay), check);
      };
      const over = () => {
        cancel?.();
        cancel = undefined;
        waitingSince = undefined;
      };
      return {
        async next() {
          waitingSince = clock.elapsed();
          if (cancel === undefined) arm(limit);
          try {
            const result = await iterator.next();
            if (result.done) over();
            return result;
          } catch (error) {
            over();
            throw error;
          } finally {
            waitingSince = undefined;
          }
        },
        async return() {
          over();
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
