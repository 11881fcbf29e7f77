import { expect, test } from 'vitest';
import { millis } from './instant.ts';
import { Pacer } from './pacer.ts';

const at = (now: number) => millis(now);

test('the burst passes immediately, and every later caller gets its own time slot', () => {
  const pacer = new Pacer({ perSecond: 10, burst: 3 });
  expect([0, 0, 0, 0, 0].map((now) => pacer.reserve(at(now)))).toEqual([0, 0, 0, 100, 200]);
});

test('idle time is credited, but never more than the burst', () => {
  const pacer = new Pacer({ perSecond: 10, burst: 2 });
  for (let i = 0; i < 5; i++) pacer.reserve(at(0));
  expect(pacer.reserve(at(1_000_000))).toBe(0);
  expect(pacer.reserve(at(1_000_000))).toBe(0);
  expect(pacer.reserve(at(1_000_000))).toBe(100);
});

test('keeps the configured rate over a long time, however many callers there are', () => {
  const pacer = new Pacer({ perSecond: 50, burst: 10 });
  const times: number[] = [];
  for (let now = 0; now < 10_000; now++) times.push(now + pacer.reserve(at(now)));
  expect(times.filter((time) => time < 10_000)).toHaveLength(10 + 499);
  for (let i = 11; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeCloseTo(20);
});

test('a burst below one still lets callers pass', () => {
  const pacer = new Pacer({ perSecond: 1, burst: 0 });
  expect([pacer.reserve(at(0)), pacer.reserve(at(0))]).toEqual([0, 1000]);
});
