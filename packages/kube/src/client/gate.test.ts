import { millis, seconds } from '@lapse/base/instant';
import { describe, expect, it } from 'vitest';
import { Gate, type GateOptions, type Pass } from './gate.ts';
import { manualClock, settle } from './testkit.ts';

function setup(options: Partial<GateOptions> = {}) {
  const clock = manualClock();
  const gate = new Gate({ clock, maxInFlight: 4, ...options });
  const inside: Pass[] = [];
  const names: string[] = [];
  const enter = (name = '', signal?: AbortSignal) =>
    gate.enter(signal).then(
      (ctx) => {
        inside.push(ctx);
        names.push(name);
      },
      () => names.push(`${name} aborted`),
    );
  const leave = async (outcome: Parameters<Pass['leave']>[0] = 'good') => {
    inside.shift()!.leave(outcome);
    await settle();
  };
  return { clock, gate, inside, names, enter, leave };
}

describe('slots', () => {
  it('admits as many requests as the limit; the others wait in order', async () => {
    const { gate, names, enter, leave } = setup({ maxInFlight: 2 });
    for (const name of ['a', 'b', 'c', 'd']) void enter(name);
    await settle();
    expect(gate.state).toEqual({ inFlight: 2, waiting: 2, limit: 2 });
    await leave();
    await leave();
    expect(names).toEqual(['a', 'b', 'c', 'd']);
  });

  it('leaving twice releases one slot', async () => {
    const { gate, inside, enter } = setup();
    await enter();
    inside[0]!.leave('good');
    inside[0]!.leave('good');
    expect(gate.state.inFlight).toBe(0);
  });

  it('a request that is aborted while it waits takes no slot', async () => {
    const { gate, names, enter, leave } = setup({ maxInFlight: 1 });
    const controller = new AbortController();
    void enter('a');
    void enter('b', controller.signal);
    void enter('c');
    await settle();
    controller.abort();
    await settle();
    expect(gate.state.waiting).toBe(1);
    await leave();
    expect(names).toEqual(['a', 'b aborted', 'c']);
    await leave();
    expect(gate.state).toEqual({ inFlight: 0, waiting: 0, limit: 1 });
  });

  it('an abort before or after admission has no effect on the slots', async () => {
    const { gate, names, enter } = setup();
    await enter('a', AbortSignal.abort());
    const controller = new AbortController();
    await enter('b', controller.signal);
    controller.abort();
    await settle();
    expect(names).toEqual(['a aborted', 'b']);
    expect(gate.state).toMatchObject({ inFlight: 1, waiting: 0 });
  });

  it('ten thousand queued requests are admitted in order', async () => {
    const { inside, names, enter } = setup({ maxInFlight: 3 });
    const all = Array.from({ length: 10_000 }, (_, i) => enter(`${i}`));
    for (let left = 0; left < 10_000; left++) {
      if (inside.length === 0) await settle(1);
      inside.shift()!.leave('good');
    }
    await Promise.all(all);
    expect(names).toEqual(Array.from({ length: 10_000 }, (_, i) => `${i}`));
  });
});

describe('adaptive limit', () => {
  it('an overload halves the limit, down to one; successes restore it slowly', async () => {
    const { gate, enter, leave } = setup({ maxInFlight: 16 });
    const round = async (outcome: 'good' | 'overload' | 'neutral') => {
      await enter();
      await leave(outcome);
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
    const { gate, enter, leave } = setup({ maxInFlight: 16 });
    for (let i = 0; i < 16; i++) await enter();
    for (let i = 0; i < 16; i++) await leave('overload');
    expect(gate.state.limit).toBe(8);
  });

  it('while more requests are in flight than allowed, none is admitted', async () => {
    const { gate, enter, leave } = setup({ maxInFlight: 4 });
    for (let i = 0; i < 6; i++) void enter();
    await settle();
    await leave('overload');
    expect(gate.state).toMatchObject({ inFlight: 3, waiting: 2, limit: 2 });
    await leave('neutral');
    expect(gate.state).toMatchObject({ inFlight: 2, waiting: 2 });
    await leave('neutral');
    expect(gate.state).toMatchObject({ inFlight: 2, waiting: 1 });
  });
});

describe('pauses', () => {
  it('admits no request before the end of a pause, and all at its end', async () => {
    const { clock, gate, inside, enter } = setup();
    gate.hold(seconds(5));
    void enter();
    void enter();
    await clock.advance(millis(4_999));
    expect(inside).toHaveLength(0);
    expect(gate.state.heldUntil).toBeDefined();
    await clock.advance(millis(1));
    expect(inside).toHaveLength(2);
    expect(gate.state.heldUntil).toBeUndefined();
    expect(clock.sleepers).toBe(0);
  });

  it('a shorter pause does not shorten a longer one; a longer one extends it', async () => {
    const { clock, gate, inside, enter } = setup();
    gate.hold(seconds(5));
    void enter();
    gate.hold(seconds(1));
    await clock.advance(seconds(2));
    void enter();
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
    const { clock, inside, enter } = setup({ maxInFlight: 100, qps: 10, burst: 3 });
    for (let i = 0; i < 10; i++) void enter();
    await settle();
    expect(inside).toHaveLength(3);
    await clock.advance(millis(100));
    expect(inside).toHaveLength(4);
    await clock.advance(millis(600));
    expect(inside).toHaveLength(10);
    expect(clock.sleepers).toBe(0);
  });
});
