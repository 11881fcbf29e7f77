// Test fixture: a queue on a virtual clock, addressed by key texts.

import { type Millis, millis, plus } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import { Interner } from './interner.ts';
import { Queue, type QueueObserver, type Taken } from './queue.ts';
import type { Priority } from './readyKeys.ts';
import type { RetryOptions } from './retry.ts';
import { Timers } from './timers.ts';

/** Not random: always the full delay. */
export const certain = { next: () => 1, bytes: () => new Uint8Array() };

export function queueKit(options: { retry?: RetryOptions; observer?: QueueObserver; seed?: number } = {}) {
  const clock = new VirtualClock();
  const interner = new Interner();
  const random = options.seed === undefined ? certain : seededRandom(options.seed);
  let readies = 0;
  const queue = new Queue({
    clock,
    random,
    interner,
    timers: new Timers(clock),
    ...(options.retry === undefined ? {} : { retry: options.retry }),
    ...(options.observer === undefined ? {} : { observer: options.observer }),
    onReady: () => readies++,
  });
  const withId = <R>(text: string, use: (id: ReturnType<Interner['intern']>) => R): R => {
    const id = interner.intern(text);
    try {
      return use(id);
    } finally {
      interner.release(id);
    }
  };
  let last: Taken | undefined;
  return {
    clock,
    queue,
    interner,
    readies: () => readies,
    last: () => last!,
    add: (text: string, priority?: Priority, reason = 'test') =>
      withId(text, (id) => queue.add(id, reason, priority)),
    addIn: (text: string, delay: number, reason = 'deadline') =>
      withId(text, (id) => queue.addAt(id, plus(clock.now(), millis(delay)), reason)),
    fail: (text: string, cause: unknown = new Error('x')) =>
      withId(text, (id) => queue.addFailed(id, cause, 'retry')),
    contend: (text: string) => withId(text, (id) => queue.addContended(id, 'contended')),
    forget: (text: string) => withId(text, (id) => queue.forget(id)),
    drop: (text: string) => withId(text, (id) => queue.drop(id)),
    done: (text: string) => withId(text, (id) => queue.done(id)),
    /** Milliseconds until the key is due. */
    waits: (text: string) => withId(text, (id) => wait(queue.wakesAt(id), clock)),
    take: (): string | undefined => {
      last = queue.take();
      return last === undefined ? undefined : interner.text(last.id);
    },
    takeAll(): string[] {
      const all: string[] = [];
      for (let text = this.take(); text !== undefined; text = this.take()) all.push(text);
      return all;
    },
    pass: (length: number) => clock.advance(millis(length)),
  };
}

const wait = (at: number | undefined, clock: VirtualClock): Millis | undefined =>
  at === undefined ? undefined : millis(at - clock.now());
