import { expect, test } from 'vitest';
import { type Instant, instant, minutes, plus } from '#base/instant';
import { Registry } from '#runtime/metrics/registry';
import { deletionMetrics } from './deletionMetrics.ts';

const START = instant(1_750_000_000_000);

test('what nobody tried to delete for ten minutes is forgotten, also where nobody scrapes', () => {
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
  // A scrape forgets, too: this one is made as if no time had passed.
  now = START;
  expect(registry.text()).toContain('lapse_deletions_due{controller="x"} 3\n');
});
