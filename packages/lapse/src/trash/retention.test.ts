import { hours, type Instant, plus } from '@lapse/base/instant';
import { expect, test } from 'vitest';
import { decideChunks } from './retention.ts';
import type { ChunkInfo } from './store.ts';
import { NOW } from './trash.testkit.ts';

const rule = { keep: hours(2), maxBytes: 100 };
const chunk = (name: string, savedAt: Instant | number, bytes: number): ChunkInfo => ({
  name,
  savedAt: savedAt as Instant,
  bytes,
  objects: 1,
  checksum: '',
});
const hour = (n: number): Instant => plus(NOW, hours(n));
const kinds = (chunks: readonly ChunkInfo[], now: Instant): string[] =>
  [...decideChunks(chunks, rule, now)].map(([name, { kind }]) => `${name} ${kind}`);

test.each<[string, readonly ChunkInfo[], Instant, readonly string[]]>([
  ['a young chunk is kept', [chunk('a', NOW, 50)], hour(1), ['a keep']],
  ['one millisecond early, it is kept', [chunk('a', NOW, 50)], (hour(2) - 1) as Instant, ['a keep']],
  ['exactly after the time to keep, it has expired', [chunk('a', NOW, 50)], hour(2), ['a expired']],
  ['at the limit, all are kept', [chunk('a', NOW, 50), chunk('b', NOW, 50)], hour(1), ['a keep', 'b keep']],
  [
    'above the limit, the oldest is removed',
    [chunk('b', NOW, 51), chunk('a', NOW, 50)],
    hour(1),
    ['b keep', 'a crowded'],
  ],
  [
    'an expired chunk makes room for the others',
    [chunk('a', NOW, 90), chunk('b', hour(1), 90)],
    hour(2),
    ['a expired', 'b keep'],
  ],
  ['a single chunk above the limit is removed', [chunk('a', NOW, 101)], hour(1), ['a crowded']],
  ['a chunk without a readable time is kept', [chunk('a', Number.NaN, 50)], hour(9), ['a keep']],
  ['a chunk without a readable size counts as empty', [chunk('a', NOW, Number.NaN)], hour(1), ['a keep']],
])('%s', (_, chunks, now, expected) => {
  expect(kinds(chunks, now)).toEqual(expected);
});
