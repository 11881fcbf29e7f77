import { seconds } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { CacheHandle } from './caches.ts';
import { Interner } from './interner.ts';
import { OwnWrites } from './ownWrites.ts';

function setup() {
  const clock = new VirtualClock();
  const interner = new Interner();
  const caughtUp: string[] = [];
  let givenUp = 0;
  const writes = new OwnWrites({
    clock,
    interner,
    onCaughtUp: (id) => caughtUp.push(interner.text(id)),
    onGivenUp: () => givenUp++,
  });
  let version = 10;
  let uid: string | undefined = 'u1';
  const handle = {
    isBehind: (wanted: string) => version < Number(wanted),
    reader: { get: () => (uid === undefined ? undefined : { metadata: { uid } }) },
  } as unknown as CacheHandle<KubeObject>;
  const key = (name: string) => ({ namespace: 'n', name });
  const by = interner.intern('n/by');
  const seen = (name: string) => {
    const id = interner.intern(`n/${name}`);
    writes.seen(id);
    interner.release(id);
  };
  const wrote = (name: string, to: number) => writes.wrote(by, handle, key(name), { version: String(to) });
  return {
    clock,
    interner,
    writes,
    caughtUp,
    wrote,
    by,
    seen,
    givenUp: () => givenUp,
    cacheReaches: (to: number) => {
      version = to;
    },
    deleted: (goneUid: string) => writes.wrote(by, handle, key('by'), { goneUid }),
    cacheHas: (next: string | undefined) => {
      uid = next;
    },
  };
}

describe('OwnWrites', () => {
  test('does not hold back a key that wrote nothing', () => {
    const { writes, by } = setup();
    expect(writes.park(by)).toBeUndefined();
  });

  test('does not wait for a write that the cache already has', () => {
    const s = setup();
    s.wrote('a', 10);
    expect([s.writes.park(s.by), s.writes.size]).toEqual([undefined, 0]);
  });

  test('returns how long to wait when behind, and enqueues the key on the event of the object', () => {
    const s = setup();
    s.wrote('a', 11);
    expect(s.writes.park(s.by)).toBe(s.clock.now() + 10_000);
    s.cacheReaches(11);
    s.seen('b');
    expect(s.caughtUp).toEqual([]);
    s.seen('a');
    expect(s.caughtUp).toEqual(['n/by']);
    expect(s.writes.park(s.by)).toBeUndefined();
  });

  test('waits for the last of several writes', () => {
    const s = setup();
    s.wrote('a', 11);
    s.wrote('b', 12);
    s.writes.park(s.by);
    s.cacheReaches(11);
    s.seen('a');
    expect(s.caughtUp).toEqual([]);
    s.cacheReaches(12);
    s.seen('b');
    expect(s.caughtUp).toEqual(['n/by']);
  });

  test('does not enqueue a key that was not due while it was behind', () => {
    const s = setup();
    s.wrote('a', 11);
    s.cacheReaches(11);
    s.seen('a');
    expect(s.caughtUp).toEqual([]);
    expect(s.writes.park(s.by)).toBeUndefined();
  });

  test('enqueues all waiting keys after a relist', () => {
    const s = setup();
    s.wrote('a', 11);
    s.writes.park(s.by);
    s.cacheReaches(50);
    s.writes.recheck();
    expect(s.caughtUp).toEqual(['n/by']);
  });

  test.each([
    ['removed from the cache', undefined],
    ['replaced by another object with the same name', 'u2'],
  ])('considers a deletion seen when the object is %s', (_how, next) => {
    const s = setup();
    s.deleted('u1');
    expect(s.writes.park(s.by)).toBeDefined();
    s.cacheHas(next);
    s.seen('by');
    expect(s.caughtUp).toEqual(['n/by']);
  });

  test('stops waiting after ten seconds', async () => {
    const s = setup();
    s.wrote('a', 11);
    await s.clock.advance(seconds(4));
    expect(s.writes.park(s.by)).toBe(s.clock.now() + 6000);
    await s.clock.advance(seconds(6));
    expect([s.writes.park(s.by), s.givenUp()]).toEqual([undefined, 1]);
  });

  test('releases all ids when the writes are seen', async () => {
    const s = setup();
    s.wrote('a', 11);
    s.wrote('a', 12);
    s.writes.park(s.by);
    await s.clock.advance(seconds(10));
    s.writes.park(s.by);
    s.interner.release(s.by);
    expect([s.interner.size, s.writes.size]).toEqual([0, 0]);
  });
});
