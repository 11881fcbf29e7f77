// Soak test: memory of a cached Job and a waiting Cleaner; 100,000 objects through lists, faults and relists.

import { expect, test } from 'vitest';
import { CLEANER_LIMIT_BYTES, LIMIT_BYTES, measureCost } from '../../../bench/runtime-memory/bench.ts';
import { reflectorKit } from './reflector.testkit.ts';

const COUNT = 100_000;
const name = (i: number) => `x${String(i).padStart(6, '0')}`;

test(`a cached Job costs at most ${LIMIT_BYTES} bytes of heap in the TTL projection`, () => {
  expect(measureCost(COUNT, 'ttl').heapBytesEach).toBeLessThanOrEqual(LIMIT_BYTES);
});

test(`a cached Cleaner that waits costs at most ${CLEANER_LIMIT_BYTES} bytes of heap`, () => {
  expect(measureCost(COUNT, 'cleaner').heapBytesEach).toBeLessThanOrEqual(CLEANER_LIMIT_BYTES);
});

/** Runs event loop turns until the cache has as many objects as expected. */
async function untilSize(
  kit: ReturnType<typeof reflectorKit>,
  size: () => number,
  wanted: number,
): Promise<void> {
  for (let i = 0; i < 2000 && (size() !== wanted || kit.caches.busy > 0); i++) await kit.settle();
}

test.each(['stream', 'pages'] as const)(
  'lists 100,000 objects by %s and converges after broken streams, compaction and relists',
  async (listBy) => {
    const kit = reflectorKit({ listBy, freeze: false });
    for (let i = 0; i < COUNT; i++) kit.server.put(name(i), { spec: { size: i } });
    kit.server.inject(
      { kind: 'status', code: 500, reason: 'InternalError' },
      { kind: 'status', code: 429, reason: 'x', retryAfter: 2 },
    );
    const handle = kit.acquire();
    await kit.pass(5000);
    await untilSize(kit, () => handle.reader.size, COUNT);
    expect(handle.reader.size).toBe(COUNT);
    kit.server.inject({ kind: 'hang' });
    kit.server.endWatches();
    await kit.settle();
    for (let i = 0; i < COUNT; i += 10) kit.server.delete(name(i));
    for (let i = 1; i < COUNT; i += 10) kit.server.put(name(i));
    kit.server.compact();
    await kit.pass(40_000);
    await untilSize(kit, () => handle.reader.size, COUNT * 0.9);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
  },
);

test("delivers 100,000 events of one stream once each and ends with the server's state", async () => {
  const kit = reflectorKit({ freeze: false });
  const handle = kit.acquire();
  await kit.settle();
  for (let round = 0; round < 100; round++) for (let i = 0; i < 1000; i++) kit.server.put(name(i), { round });
  await untilSize(kit, () => kit.changes.length, COUNT);
  expect(kit.changes).toHaveLength(COUNT);
  expect(kit.contents(handle)).toEqual(kit.serverContents());
});
