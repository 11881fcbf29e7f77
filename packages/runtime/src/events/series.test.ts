import { type Instant, millis, plus } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import { describe, expect, test } from 'vitest';
import { buildEvent } from './build.ts';
import { EventSeriesTracker, type EventWrite } from './series.ts';
import type { EventNote, RegardingObject } from './types.ts';

const MINUTE = 60_000;
const object = (name: string, uid = name, version = '1'): RegardingObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'n', uid, resourceVersion: version },
});
const note = (reason: string, text = 'x'): EventNote => ({
  type: 'Warning',
  reason,
  action: 'Delete',
  note: text,
});

function setup() {
  const book = new EventSeriesTracker();
  const random = seededRandom(1);
  const at = (time: number): Instant => plus(VIRTUAL_START, millis(time));
  const say = (regarding: RegardingObject, what: EventNote, time: number, controller = 'lapse.dev/c') =>
    book.observe(
      buildEvent(regarding, what, { now: at(time), random, controller, instance: 'i' }),
      at(time),
      millis(time),
    );
  const shown = (write: EventWrite | string) =>
    typeof write === 'string'
      ? write
      : `${write.kind} ${write.event.regarding.name} ${write.event.series?.count ?? 1}`;
  return {
    book,
    say: (...args: Parameters<typeof say>) => shown(say(...args)),
    sweep: (time: number) => book.sweep(at(time)).map(shown),
    flush: (time: number) => book.flush(at(time)).map(shown),
  };
}

describe('EventSeriesTracker: repeated Events', () => {
  test('creates the first Event, turns the second into a series and counts further ones', () => {
    const s = setup();
    expect([0, 1, 2, 3].map((t) => s.say(object('a'), note('Held'), t * 1000))).toEqual([
      'create a 1',
      'count a 2',
      'counted',
      'counted',
    ]);
  });

  test('writes the count when the series ends', () => {
    const s = setup();
    for (let i = 0; i < 5; i++) s.say(object('a'), note('Held'), i * MINUTE);
    expect(s.sweep(9 * MINUTE)).toEqual([]);
    expect(s.sweep(10 * MINUTE)).toEqual(['count a 5']);
    expect(s.book.size).toBe(0);
    expect(s.say(object('a'), note('Held'), 11 * MINUTE)).toBe('create a 1');
  });

  test('writes the count every half hour while the series continues', () => {
    const s = setup();
    const writes: string[] = [];
    for (let i = 0; i < 65; i++) {
      s.say(object('a'), note('Held'), i * MINUTE);
      writes.push(...s.sweep(i * MINUTE + 1));
    }
    expect(writes).toEqual(['count a 32', 'count a 62']);
  });

  test('removes a single Event without a write', () => {
    const s = setup();
    s.say(object('a'), note('Held'), 0);
    expect([s.sweep(6 * MINUTE), s.book.size]).toEqual([[], 0]);
  });

  test.each<[string, RegardingObject, EventNote, string]>([
    ['counts the same Event with another note', object('a'), note('Held', 'y'), 'count a 2'],
    [
      'counts the same Event for another version of the object',
      object('a', 'a', '2'),
      note('Held'),
      'count a 2',
    ],
    ['creates an Event for another reason', object('a'), note('Deleted'), 'create a 1'],
    ['creates an Event for another object', object('b'), note('Held'), 'create b 1'],
    [
      'creates an Event for another object with the same name',
      object('a', 'other'),
      note('Held'),
      'create a 1',
    ],
    ['creates an Event for another type', object('a'), { ...note('Held'), type: 'Normal' }, 'create a 1'],
  ])('%s', (_what, regarding, what, expected) => {
    const s = setup();
    s.say(object('a'), note('Held'), 0);
    expect(s.say(regarding, what, 1000)).toBe(expected);
  });

  test('writes all counts on flush', () => {
    const s = setup();
    for (let i = 0; i < 3; i++) s.say(object('a'), note('Held'), i);
    s.say(object('b'), note('Held'), 5);
    expect(s.flush(10)).toEqual(['count a 3']);
    expect(s.flush(11)).toEqual([]);
  });
});

describe('EventSeriesTracker: limits', () => {
  test('allows 25 different Events per object, then one every five minutes', () => {
    const s = setup();
    const said = Array.from({ length: 30 }, (_, i) => s.say(object('a'), note(`R${i}`), i));
    expect(said.filter((w) => w === 'dropped')).toHaveLength(5);
    expect(s.say(object('b'), note('R0'), 40)).toBe('create b 1');
    expect(s.say(object('a'), note('Later'), 5 * MINUTE + 100)).toBe('create a 1');
    expect(s.say(object('a'), note('Later2'), 5 * MINUTE + 200)).toBe('dropped');
  });

  test('limits memory for any number of objects', () => {
    const s = setup();
    for (let i = 0; i < 10_000; i++) s.say(object(`p${i}`), note('Deleted'), i);
    expect(s.book.size).toBeLessThanOrEqual(4096);
  });
});
