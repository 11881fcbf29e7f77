import { describe, expect, test } from 'vitest';
import { hours, instant, type Millis, millis, minus, minutes, plus, seconds } from './instant.ts';
import { Pace } from './pace.ts';
import { nextTurn } from './turn.ts';
import { VirtualClock } from './virtualClock.ts';

const turns = async () => {
  for (let i = 0; i < 4; i++) await nextTurn();
};

function paced(speed: number, rest: () => Promise<void> = async () => {}) {
  const real = new VirtualClock(instant(0));
  const virtual = new VirtualClock();
  const start = virtual.now();
  const pace = new Pace({ virtual, real, speed, rest });
  pace.start();
  return {
    pace,
    virtual,
    real,
    since: () => minus(virtual.now(), start),
    pass: (length: Millis) => real.advance(length, turns),
  };
}

describe('virtual time at a multiple of real time', () => {
  test.each([
    ['faster', 60, seconds(10), minutes(10)],
    ['a week in a minute', 10_080, minutes(1), hours(168)],
    ['slower', 0.5, seconds(10), seconds(5)],
  ])('%s', async (_rule, speed, real, virtual) => {
    const { since, pass, pace } = paced(speed);
    await pass(real);
    expect(since()).toBe(virtual);
    const stopped = pace.stop();
    await pass(seconds(1));
    await stopped;
    expect(since()).toBe(virtual);
  });

  test('timers fire at their own instants, in order, at any speed', async () => {
    const { virtual, since, pass, pace } = paced(10_080);
    const seen: [string, number][] = [];
    const note = (name: string) => seen.push([name, since()]);
    virtual.wakeAt(plus(virtual.now(), hours(5)), () => note('late'));
    virtual.wakeAt(plus(virtual.now(), seconds(1)), () => {
      note('early');
      virtual.wakeAt(plus(virtual.now(), millis(1)), () => note('from within'));
    });
    await pass(seconds(3));
    expect(seen).toEqual([
      ['early', seconds(1)],
      ['from within', millis(1001)],
      ['late', hours(5)],
    ]);
    await pace.stop();
  });

  test('slow work slows virtual time down and delays no timer', async () => {
    const held: { real?: VirtualClock; virtual?: VirtualClock } = {};
    let works = false;
    // Each timer costs ten real seconds of work.
    const { virtual, real, since, pass, pace } = paced(3600, async () => {
      if (!works) return;
      works = false;
      await held.real!.advance(seconds(10));
    });
    Object.assign(held, { real, virtual });
    const seen: number[] = [];
    virtual.wakeAt(plus(virtual.now(), minutes(1)), () => {
      seen.push(since());
      works = true;
      virtual.wakeAt(plus(virtual.now(), seconds(30)), () => seen.push(since()));
    });
    await pass(millis(100));
    await pass(millis(100));
    expect(seen).toEqual([minutes(1), seconds(90)]);
    // The ten hours of work are not caught up with.
    expect(since()).toBeLessThan(hours(1));
    await pace.stop();
  });

  test('a new speed applies from the moment it is set', async () => {
    const { pace, since, pass } = paced(1);
    await pass(seconds(10));
    pace.setSpeed(100);
    expect(pace.speed).toBe(100);
    await pass(seconds(1));
    expect(since()).toBe(seconds(110));
    await pace.stop();
  });
});
