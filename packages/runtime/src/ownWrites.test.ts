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
  test('a key that wrote nothing is never behind', () => {
    const { writes, by } = setup();
    expect(writes.park(by)).toBeUndefined();
  });

  test('a write that the cache has already is not waited for', () => {
    const s = setup();
    s.wrote('a', 10);
    expect([s.writes.park(s.by), s.writes.size]).toEqual([undefined, 0]);
  });

  test('behind: told until when to wait, and woken by the event of the object', () => {
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

  test('after several writes, the last of them counts', () => {
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

  test('a key that nobody wanted meanwhile is not woken', () => {
    const s = setup();
    s.wrote('a', 11);
    s.cacheReaches(11);
    s.seen('a');
    expect(s.caughtUp).toEqual([]);
    expect(s.writes.park(s.by)).toBeUndefined();
  });

  test('a list brings everybody up at once', () => {
    const s = setup();
    s.wrote('a', 11);
    s.writes.park(s.by);
    s.cacheReaches(50);
    s.writes.recheck();
    expect(s.caughtUp).toEqual(['n/by']);
  });

  test.each([
    ['gone', undefined],
    ['replaced by another of its name', 'u2'],
  ])('a deletion is seen when the object is %s', (_how, next) => {
    const s = setup();
    s.deleted('u1');
    expect(s.writes.park(s.by)).toBeDefined();
    s.cacheHas(next);
    s.seen('by');
    expect(s.caughtUp).toEqual(['n/by']);
  });

  test('patience ends after ten seconds', async () => {
    const s = setup();
    s.wrote('a', 11);
    await s.clock.advance(seconds(4));
    expect(s.writes.park(s.by)).toBe(s.clock.now() + 6000);
    await s.clock.advance(seconds(6));
    expect([s.writes.park(s.by), s.givenUp()]).toEqual([undefined, 1]);
  });

  test('nothing is held once it is over', async () => {
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
