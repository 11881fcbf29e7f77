// Compares the queue with a simple model (maps and sorting instead of rings, bits and heaps). Random histories of all
// operations must give the same takes, waits and counts.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queueKit } from './queue.testkit.ts';

interface ModelKey {
  dirty: 'normal' | 'low' | undefined;
  processing: boolean;
  penalty: boolean;
  wakesAt: number | undefined;
  failures: number;
  losses: number;
}

const backoff = (first: number, max: number, n: number) => Math.min(max, first * 2 ** (n - 1));

class Model {
  readonly keys = new Map<string, ModelKey>();
  now = 0;

  of(text: string): ModelKey {
    let key = this.keys.get(text);
    if (!key) {
      key = {
        dirty: undefined,
        processing: false,
        penalty: false,
        wakesAt: undefined,
        failures: 0,
        losses: 0,
      };
      this.keys.set(text, key);
    }
    return key;
  }
  add(text: string, priority: 'normal' | 'low') {
    const key = this.of(text);
    if (key.dirty !== undefined) {
      if (priority === 'normal') key.dirty = 'normal';
    } else if (!key.penalty) key.dirty = priority;
  }
  addIn(text: string, delay: number) {
    const key = this.of(text);
    if (key.penalty) return;
    if (delay <= 0) this.add(text, 'normal');
    else key.wakesAt = Math.min(key.wakesAt ?? Number.POSITIVE_INFINITY, this.now + delay);
  }
  /** The keys that are ready now. */
  ready(): string[] {
    return [...this.keys].filter(([, k]) => k.dirty !== undefined && !k.processing).map(([text]) => text);
  }
  take(text: string) {
    const key = this.of(text);
    expect(key.dirty).toBeDefined();
    expect(key.processing).toBe(false);
    Object.assign(key, { dirty: undefined, processing: true, wakesAt: undefined, penalty: false });
  }
  settle(text: string, how: 'ok' | 'fail' | 'contend') {
    const key = this.of(text);
    const wait = (delay: number) => {
      key.wakesAt = Math.min(key.wakesAt ?? Number.POSITIVE_INFINITY, this.now + delay);
    };
    if (how === 'ok') Object.assign(key, { failures: 0, losses: 0 });
    if (how === 'fail') wait(backoff(5, 60_000, ++key.failures));
    if (how === 'contend') {
      wait(backoff(100, 5000, ++key.losses));
      key.penalty = true;
      key.dirty = undefined;
    }
    key.processing = false;
  }
  pass(length: number) {
    this.now += length;
    for (const key of this.keys.values()) {
      if (key.wakesAt === undefined || key.wakesAt > this.now) continue;
      key.wakesAt = undefined;
      key.penalty = false;
      // A low-priority key that becomes due has normal priority from then on.
      key.dirty = 'normal';
    }
  }
  idle(text: string): boolean {
    const key = this.of(text);
    return key.dirty === undefined && !key.processing && key.wakesAt === undefined;
  }
}

const text = fc.constantFrom('n/a', 'n/b', 'n/c', 'm/a', 'x');
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), text, low: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('addIn' as const),
      text,
      delay: fc.integer({ min: -50, max: 400 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick: fc.nat(9),
      how: fc.constantFrom('ok' as const, 'ok' as const, 'fail' as const, 'contend' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), length: fc.nat(300) }) },
);

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

/** Runs each operation on the queue and on the model. */
class Both {
  readonly q = queueKit();
  readonly model = new Model();
  readonly working: string[] = [];

  async run(c: Command): Promise<void> {
    switch (c.do) {
      case 'add':
        this.q.add(c.text, c.low ? 'low' : 'normal');
        this.model.add(c.text, c.low ? 'low' : 'normal');
        break;
      case 'addIn':
        this.q.addIn(c.text, c.delay);
        this.model.addIn(c.text, c.delay);
        break;
      case 'take':
        this.take();
        break;
      case 'settle':
        if (this.working.length > 0) this.settle(c.pick % this.working.length, c.how);
        break;
      case 'pass':
        await this.q.pass(c.length);
        this.model.pass(c.length);
    }
  }

  take(): void {
    const taken = this.q.take();
    if (taken === undefined) {
      expect(this.model.ready()).toEqual([]);
      return;
    }
    this.model.take(taken);
    this.working.push(taken);
    const { failures, losses } = this.model.of(taken);
    expect(this.q.last()).toMatchObject({ failures, losses });
  }

  settle(index: number, how: 'ok' | 'fail' | 'contend'): void {
    const [taken] = this.working.splice(index, 1);
    if (how === 'ok') this.q.forget(taken!);
    if (how === 'fail') this.q.fail(taken!);
    if (how === 'contend') this.q.contend(taken!);
    this.q.done(taken!);
    this.model.settle(taken!, how);
  }

  compare(): void {
    expect(this.q.queue.ready).toBe(this.model.ready().length);
    expect(this.q.queue.processing).toBe(this.working.length);
    for (const [key, { wakesAt }] of this.model.keys)
      expect(this.q.waits(key)).toBe(wakesAt === undefined ? undefined : wakesAt - this.model.now);
    const tracked = [...this.model.keys.keys()].filter((key) => !this.model.idle(key));
    expect(this.q.interner.size).toBe(tracked.length);
  }
}

test('matches the model in random histories: deduplication, one worker per key, earliest deadline, no lost or leaked key', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 80 }), async (commands) => {
      const both = new Both();
      for (const c of commands) {
        await both.run(c);
        both.compare();
      }
      // After all keys are done and time has passed, every pending key is ready.
      while (both.working.length > 0) both.settle(0, 'ok');
      await both.run({ do: 'pass', length: 120_000 });
      expect(both.q.takeAll().sort()).toEqual(both.model.ready().sort());
    }),
    { numRuns: 500 },
  );
});
