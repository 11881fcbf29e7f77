import { millis, seconds } from '@lapse/base/instant';
import { describe, expect, it } from 'vitest';
import { Gate, type GateOptions, type RequestSlot } from './gate.ts';
import { manualClock, settle } from './testkit.ts';

function setup(options: Partial<GateOptions> = {}) {
  const clock = manualClock();
  const gate = new Gate({ clock, maxInFlight: 4, ...options });
  const inside: RequestSlot[] = [];
  const names: string[] = [];
  const acquire = (name = '', signal?: AbortSignal) =>
    gate.acquire(signal).then(
      (slot) => {
        inside.push(slot);
        names.push(name);
      },
      () => names.push(`${name} aborted`),
    );
  const release = async (outcome: Parameters<RequestSlot['release']>[0] = 'good') => {
    inside.shift()!.release(outcome);
    await settle();
  };
  return { clock, gate, inside, names, acquire, release };
}

describe('slots', () => {
  it('admits as many requests as the limit; the others wait in order', async () => {
    const { gate, names, acquire, release } = setup({ maxInFlight: 2 });
    for (const name of ['a', 'b', 'c', 'd']) void acquire(name);
    await settle();
    expect(gate.state).toEqual({ inFlight: 2, waiting: 2, limit: 2 });
    await release();
    await release();
    expect(names).toEqual(['a', 'b', 'c', 'd']);
  });

  it('releasing a slot twice frees one slot', async () => {
    const { gate, inside, acquire } = setup();
    await acquire();
    inside[0]!.release('good');
    inside[0]!.release('good');
    expect(gate.state.inFlight).toBe(0);
  });

  it('a request that is aborted while it waits takes no slot', async () => {
    const { gate, names, acquire, release } = setup({ maxInFlight: 1 });
    const controller = new AbortController();
    void acquire('a');
    void acquire('b', controller.signal);
    void acquire('c');
    await settle();
    controller.abort();
    await settle();
    expect(gate.state.waiting).toBe(1);
    await release();
    expect(names).toEqual(['a', 'b aborted', 'c']);
    await release();
    expect(gate.state).toEqual({ inFlight: 0, waiting: 0, limit: 1 });
  });

  it('an abort before or after admission has no effect on the slots', async () => {
    const { gate, names, acquire } = setup();
    await acquire('a', AbortSignal.abort());
    const controller = new AbortController();
    await acquire('b', controller.signal);
    controller.abort();
    await settle();
    expect(names).toEqual(['a aborted', 'b']);
    expect(gate.state).toMatchObject({ inFlight: 1, waiting: 0 });
  });

  it('ten thousand queued requests are admitted in order', async () => {
    const { inside, names, acquire } = setup({ maxInFlight: 3 });
    const all = Array.from({ length: 10_000 }, (_, i) => acquire(`${i}`));
    for (let left = 0; left < 10_000; left++) {
      if (inside.length === 0) await settle(1);
      inside.shift()!.release('good');
    }
    await Promise.all(all);
    expect(names).toEqual(Array.from({ length: 10_000 }, (_, i) => `${i}`));
  });
});

describe('adaptive limit', () => {
  it('an overload halves the limit, down to one; successes restore it slowly', async () => {
    const { gate, acquire, release } = setup({ maxInFlight: 16 });
    const round = async (outcome: 'good' | 'overload' | 'neutral') => {
      await acquire();
      await release(outcome);
      return gate.state.limit;
    };
    expect(await round('overload')).toBe(8);
    expect(await round('overload')).toBe(4);
    expect(await round('neutral')).toBe(4);
    for (let i = 0; i < 4; i++) await round('good');
    expect(gate.state.limit).toBe(4);
    await round('good');
    expect(gate.state.limit).toBe(5);
    for (let i = 0; i < 200; i++) await round('good');
    expect(gate.state.limit).toBe(16);
    for (let i = 0; i < 10; i++) await round('overload');
    expect(gate.state.limit).toBe(1);
  });

  it('simultaneous overloads count once', async () => {
    const { gate, acquire, release } = setup({ maxInFlight: 16 });
    for (let i = 0; i < 16; i++) await acquire();
    for (let i = 0; i < 16; i++) await release('overload');
    expect(gate.state.limit).toBe(8);
  });

  it('while more requests are in flight than allowed, none is admitted', async () => {
    const { gate, acquire, release } = setup({ maxInFlight: 4 });
    for (let i = 0; i < 6; i++) void acquire();
    await settle();
    await release('overload');
    expect(gate.state).toMatchObject({ inFlight: 3, waiting: 2, limit: 2 });
    await release('neutral');
    expect(gate.state).toMatchObject({ inFlight: 2, waiting: 2 });
    await release('neutral');
    expect(gate.state).toMatchObject({ inFlight: 2, waiting: 1 });
  });
});

describe('pauses', () => {
  it('admits no request before the end of a pause, and all at its end', async () => {
    const { clock, gate, inside, acquire } = setup();
    gate.hold(seconds(5));
    void acquire();
    void acquire();
    await clock.advance(millis(4_999));
    expect(inside).toHaveLength(0);
    expect(gate.state.heldUntil).toBeDefined();
    await clock.advance(millis(1));
    expect(inside).toHaveLength(2);
    expect(gate.state.heldUntil).toBeUndefined();
    expect(clock.sleepers).toBe(0);
  });

  it('a shorter pause does not shorten a longer one; a longer one extends it', async () => {
    const { clock, gate, inside, acquire } = setup();
    gate.hold(seconds(5));
    void acquire();
    gate.hold(seconds(1));
    await clock.advance(seconds(2));
    void acquire();
    await settle();
    expect(inside).toHaveLength(0);
    gate.hold(seconds(10));
    await clock.advance(millis(9_999));
    expect(inside).toHaveLength(0);
    await clock.advance(millis(1));
    expect(inside).toHaveLength(2);
  });
});

describe('rate', () => {
  it('admits the burst immediately, then one request at a time', async () => {
    const { clock, inside, acquire } = setup({ maxInFlight: 100, qps: 10, burst: 3 });
    for (let i = 0; i < 10; i++) void acquire();
    await settle();
    expect(inside).toHaveLength(3);
    await clock.advance(millis(100));
    expect(inside).toHaveLength(4);
    await clock.advance(millis(600));
    expect(inside).toHaveLength(10);
    expect(clock.sleepers).toBe(0);
  });
});
