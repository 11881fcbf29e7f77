import { instant, type Millis, millis, plus } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { lengthText, normalize, stampOf, Timeline } from './timeline.ts';

const START = instant(1_000_000);
const line = (after: number, ref: string, action: string, detail = '') => ({
  at: plus(START, millis(after)),
  ref,
  action,
  detail,
});
const made = (...lines: ReturnType<typeof line>[]): Timeline => {
  const timeline = new Timeline(START);
  for (const one of lines) timeline.add(one);
  return timeline;
};

test('lines are sorted by time, then by object, then by insertion', () => {
  const timeline = made(
    line(60_000, 'job/b', 'deleted', 'lag=0s'),
    line(60_000, 'job/a', 'waiting'),
    line(60_000, 'job/a', 'deleted'),
    line(0, 'job/z', 'finished', 'ttl=1m'),
  );
  expect(timeline.text()).toBe(
    [
      '+00:00  job/z    finished    ttl=1m',
      '+01:00  job/a    waiting',
      '+01:00  job/a    deleted',
      '+01:00  job/b    deleted     lag=0s',
    ].join('\n'),
  );
});

test('a duplicate line at one instant is ignored, but not at a later one', () => {
  const timeline = made(
    line(0, 'a', 'again', 'x'),
    line(0, 'b', 'again', 'x'),
    line(0, 'a', 'again', 'x'),
    line(1, 'a', 'again', 'x'),
  );
  expect(timeline.lines()).toHaveLength(3);
});

test('lines can be retracted from an action on, only at the same instant', () => {
  const timeline = made(
    line(0, 'a', 'ends'),
    line(5, 'a', 'x'),
    line(5, 'a', 'ends', 'd'),
    line(5, 'a', 'y'),
  );
  expect(timeline.retract('a', plus(START, millis(4)), 'ends')).toBeUndefined();
  expect(timeline.retract('a', plus(START, millis(5)), 'ends')?.detail).toBe('d');
  expect(timeline.lines().map(({ action }) => action)).toEqual(['ends', 'x']);
  timeline.add(line(5, 'a', 'x'));
  expect(timeline.lines()).toHaveLength(2);
});

test('an empty timeline gives an empty text', () => {
  expect(made().text()).toBe('');
});

test.each<[number, string]>([
  [0, '+00:00'],
  [999, '+00:00'],
  [61_000, '+01:01'],
  [3_600_000, '+60:00'],
  [43_200 * 60_000, '+43200:00'],
  [-1000, '-00:01'],
])('formats %d ms after the start as %s', (since, text) => {
  expect(stampOf(since as Millis)).toBe(text);
});

test.each<[number, string]>([
  [0, '0s'],
  [1, '0.001s'],
  [1500, '1.5s'],
  [600_000, '10m'],
  [5_400_000, '1h30m'],
  [90_061_000, '1d1h1m1s'],
  [-2000, '-2s'],
])('formats the duration %d ms as %s', (length, text) => {
  expect(lengthText(millis(length))).toBe(text);
});

describe('normalize', () => {
  test('ignores indentation, column width and empty lines, but keeps single spaces', () => {
    expect(normalize('\n   a    b c  \n\n  d\n')).toBe('a  b c\nd');
  });
});
