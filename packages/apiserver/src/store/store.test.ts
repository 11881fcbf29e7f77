import { realClock } from '@lapse/base/clock';
import { instant, millis, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Journal, type JournalRecord, RevisionMismatch, Store } from './store.ts';

const thing = (name: string, value: number): KubeObject => ({
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name },
  value,
});
const keysOf = (store: Store, revision?: number) =>
  [...store.view('things', revision)!.entries('')].map((s) => `${s.key}=${s.object['value']}`);

/** A journal that commits only on request, so that tests can inspect pending writes. */
class ManualJournal implements Journal {
  readonly batches: {
    records: readonly JournalRecord[];
    commit: () => void;
    fail: (cause: Error) => void;
  }[] = [];
  async load() {
    return { revision: 0, records: [] };
  }
  append(records: readonly JournalRecord[]): Promise<void> {
    return new Promise((resolve, reject) => this.batches.push({ records, commit: resolve, fail: reject }));
  }
  async close() {}
}

describe('writing', () => {
  test('each write gets the next revision of one counter for all resources', async () => {
    const store = Store.inMemory(realClock);
    const a = await store.put('things', 'a', 0, thing('a', 1));
    const b = await store.put('others', 'b', 0, thing('b', 1));
    const gone = await store.remove('things', 'a', a.revision);
    expect([b.revision, gone.revision]).toEqual([a.revision + 1, a.revision + 2]);
    expect(store.get('others', 'b')!.object.metadata.resourceVersion).toBe(String(b.revision));
  });

  test.each([
    ['creating an existing object', 'a', 0],
    ['updating a missing object', 'b', 5],
    ['updating from an outdated revision', 'a', 1],
  ])('rejects %s', async (_, key, expected) => {
    const store = Store.inMemory(realClock);
    await store.put('things', 'a', 0, thing('a', 1));
    expect(() => store.put('things', key, expected, thing(key, 2))).toThrow(RevisionMismatch);
    expect(() => store.remove('things', 'missing', 3)).toThrow(RevisionMismatch);
  });
});

describe('durability', () => {
  test('a write is readable, watchable and acknowledged only after the journal committed it', async () => {
    const journal = new ManualJournal();
    const store = await Store.open(realClock, journal);
    const seen: number[] = [];
    store.listen((change) => seen.push(change.revision));
    let acknowledged = false;
    const done = store.put('things', 'a', 0, thing('a', 1)).then(() => (acknowledged = true));
    expect([store.get('things', 'a'), seen.length, acknowledged]).toEqual([undefined, 0, false]);
    expect(store.getHead('things', 'a')!.object['value']).toBe(1);
    journal.batches[0]!.commit();
    await done;
    expect([store.get('things', 'a')!.object['value'], seen.length]).toEqual([1, 1]);
  });

  test('writes that arrive during a commit are committed together in the next one', async () => {
    const journal = new ManualJournal();
    const store = await Store.open(realClock, journal);
    const first = store.put('things', 'a', 0, thing('a', 1));
    const rest = ['b', 'c', 'd'].map((k) => store.put('things', k, 0, thing(k, 1)));
    expect(journal.batches.map((b) => b.records.length)).toEqual([1]);
    journal.batches[0]!.commit();
    await first;
    expect(journal.batches.map((b) => b.records.map((r) => r.key))).toEqual([['a'], ['b', 'c', 'd']]);
    journal.batches[1]!.commit();
    await Promise.all(rest);
  });

  test('a failed commit fails its batch and the writes based on it, and stores nothing', async () => {
    const journal = new ManualJournal();
    const store = await Store.open(realClock, journal);
    const create = store.put('things', 'a', 0, thing('a', 1));
    const head = store.getHead('things', 'a')!;
    const update = store.put('things', 'a', head.revision, thing('a', 2));
    journal.batches[0]!.fail(new Error('disk full'));
    await expect(create).rejects.toThrow('could not store: disk full');
    await expect(update).rejects.toThrow('could not store: disk full');
    expect([store.get('things', 'a'), store.getHead('things', 'a')]).toEqual([undefined, undefined]);
    const again = store.put('things', 'a', 0, thing('a', 3));
    journal.batches[1]!.commit();
    expect((await again).revision).toBeGreaterThan(head.revision + 1);
  });

  test('a reader of the head can wait until it is durable', async () => {
    const journal = new ManualJournal();
    const store = await Store.open(realClock, journal);
    const write = store.put('things', 'a', 0, thing('a', 1));
    let durable = false;
    const waited = store.committed(store.getHead('things', 'a')!).then(() => (durable = true));
    await Promise.resolve();
    expect(durable).toBe(false);
    journal.batches[0]!.commit();
    await Promise.all([write, waited]);
    await store.committed(store.get('things', 'a')!);
  });
});

describe('history', () => {
  test('a view equals the state of the store at its revision (random histories)', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'ns/a', 'ns/b', 'ns-2/a'),
      remove: fc.boolean(),
      value: fc.nat(9),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const store = Store.inMemory(realClock);
        const then = new Map<number, string[]>([[store.revision, []]]);
        for (const { key, remove, value } of steps) {
          const head = store.get('things', key);
          if (remove && head) await store.remove('things', key, head.revision);
          else if (!remove) await store.put('things', key, head?.revision ?? 0, thing(key, value));
          then.set(store.revision, keysOf(store));
          await store.put('noise', `n${store.revision}`, 0, thing('n', 0));
        }
        for (const [revision, expected] of then) {
          expect(keysOf(store, revision)).toEqual(expected);
          const view = store.view('things', revision)!;
          expect(view.count('')).toBe(expected.length);
          expect(view.count('ns/')).toBe(expected.filter((e) => e.startsWith('ns/')).length);
          const [first] = expected;
          if (first) {
            const key = first.split('=')[0]!;
            expect([...view.entries('', key)].length).toBe(expected.length - 1);
            expect(view.count('', key)).toBe(expected.length - 1);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('lists keys in byte order of namespace/name', async () => {
    const store = Store.inMemory(realClock);
    for (const key of ['b/x', 'a/z', 'a-b/y', 'a/a', 'a.b/q'])
      await store.put('things', key, 0, thing(key, 0));
    expect(keysOf(store).map((k) => k.split('=')[0])).toEqual(['a-b/y', 'a.b/q', 'a/a', 'a/z', 'b/x']);
  });

  test('history is bounded by count: older revisions are unknown', async () => {
    const store = Store.inMemory(realClock, { revisions: 3, age: seconds(1e6) });
    for (let i = 0; i < 6; i++) await store.put('things', `k${i}`, 0, thing('k', i));
    const { revision } = store;
    expect([store.view('things', revision - 4), store.floor('things')]).toEqual([undefined, revision - 3]);
    expect(store.view('things', revision - 3)).toBeDefined();
    expect([...store.changesAfter('things', revision - 3)].length).toBe(3);
  });

  test('history is bounded by age', async () => {
    let now = 0;
    const clock = { ...realClock, now: () => instant(now) };
    const store = Store.inMemory(clock, { revisions: 1e6, age: millis(1000) });
    await store.put('things', 'a', 0, thing('a', 1));
    now = 1001;
    await store.put('things', 'b', 0, thing('b', 1));
    expect(store.floor('things')).toBe(store.revision - 1);
  });

  test('history is bounded by size', async () => {
    const store = Store.inMemory(realClock, { revisions: 1e6, age: seconds(1e6), bytes: 10_000 });
    const large = (i: number) => ({ ...thing('a', i), text: 'x'.repeat(4000) });
    const { revision } = await store.put('things', 'a', 0, large(0));
    store.compact();
    for (let i = 0; i < 4; i++) await store.put('things', 'a', revision + i, large(i));
    expect([...store.changesAfter('things', 0)].length).toBe(2);
    expect(store.floor('things')).toBe(store.revision - 2);
  });

  test('compaction discards all earlier revisions', async () => {
    const store = Store.inMemory(realClock);
    await store.put('things', 'a', 0, thing('a', 1));
    const before = store.revision - 1;
    store.compact();
    expect([store.view('things', before), store.floor('things')]).toEqual([undefined, store.revision]);
  });
});

test('stores integers above 2^53 exactly', async () => {
  const store = Store.inMemory(realClock);
  await store.put('things', 'big', 0, { ...thing('big', 1), huge: 9_223_372_036_854_775_807n });
  const { bytes } = store.get('things', 'big')!;
  expect(Buffer.from(bytes).toString()).toContain('9223372036854775807');
});
