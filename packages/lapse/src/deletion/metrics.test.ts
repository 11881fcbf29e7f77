import { type Instant, instant, minutes, plus } from '@lapse/base/instant';
import { Registry } from '@lapse/runtime/metrics/registry';
import { describe, expect, test } from 'vitest';
import { deletionMetrics } from './metrics.ts';

const START = instant(1_750_000_000_000);

test('an object without a deletion attempt for ten minutes is no longer counted, even without scrapes', () => {
  const registry = new Registry();
  let now: Instant = START;
  const metrics = deletionMetrics(registry, 'x', () => now);
  const touch = (uid: string, minute: number) => {
    now = plus(START, minutes(minute));
    metrics.due(uid, now);
  };
  touch('held, then deleted by others', 0);
  touch('tried again and again', 1);
  touch('tried again and again', 10);
  touch('another', 10.5);
  metrics.due('held for an hour', plus(START, minutes(60)));
  touch('another', 11);
  // A scrape also drops stale objects. This one happens at the start time.
  now = START;
  expect(registry.text()).toContain('lapse_deletions_due{controller="x"} 3\n');
});

describe('the age of the oldest object that is due', () => {
  function setup() {
    const registry = new Registry();
    let now: Instant = START;
    const metrics = deletionMetrics(registry, 'x', () => now);
    const gauge = (name: string) =>
      Number(new RegExp(`^${name}\\{controller="x"\\} (.*)$`, 'm').exec(registry.text())![1]);
    return {
      metrics,
      at: (minute: number) => {
        now = plus(START, minutes(minute));
        return now;
      },
      shown: () => [gauge('lapse_deletions_due'), gauge('lapse_deletions_oldest_due_seconds')],
    };
  }

  test('counts from the first attempt, and is 0 when nothing is due', () => {
    const { metrics, at, shown } = setup();
    expect(shown()).toEqual([0, 0]);
    metrics.due('a', at(0));
    metrics.due('b', at(5));
    metrics.due('a', at(8));
    expect(shown()).toEqual([2, 480]);
    metrics.done('a');
    expect(shown()).toEqual([1, 180]);
  });

  test('includes an object that is still terminating after ten minutes, until it is gone', () => {
    const { metrics, at, shown } = setup();
    let isThere = true;
    metrics.due('a', at(0));
    metrics.terminating('a', () => isThere);
    at(9.9);
    expect(shown()).toEqual([0, 0]);
    at(10);
    expect(shown()).toEqual([1, 600]);
    at(45);
    expect(shown()).toEqual([1, 2700]);
    isThere = false;
    expect(shown()).toEqual([0, 0]);
  });

  test('does not include objects that terminate within ten minutes', () => {
    const { metrics, at, shown } = setup();
    const there = new Set<string>();
    for (let minute = 0; minute < 60; minute++) {
      metrics.due(`u${minute}`, at(minute));
      metrics.terminating(`u${minute}`, () => there.has(`u${minute}`));
      there.add(`u${minute}`);
      there.delete(`u${minute - 1}`);
      expect(shown()).toEqual([0, 0]);
    }
  });
});
