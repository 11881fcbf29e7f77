import { describe, expect, test } from 'vitest';
import { queueKit } from './queue.testkit.ts';

describe('Queue: add and take', () => {
  test('returns keys once, in the order in which they were added', () => {
    const q = queueKit();
    for (const key of ['a', 'b', 'a', 'c', 'b']) q.add(key);
    expect(q.queue.ready).toBe(3);
    expect(q.takeAll()).toEqual(['a', 'b', 'c']);
  });

  test('does not return a key that a worker processes', () => {
    const q = queueKit();
    q.add('a');
    expect(q.take()).toBe('a');
    q.add('a');
    expect([q.take(), q.queue.ready, q.queue.processing]).toEqual([undefined, 0, 1]);
    q.done('a');
    expect(q.take()).toBe('a');
  });

  test('returns a key once more when it changed during processing', () => {
    const q = queueKit();
    q.add('a');
    q.take();
    q.add('a');
    q.add('a');
    q.done('a');
    expect(q.takeAll()).toEqual(['a']);
    q.done('a');
    expect(q.takeAll()).toEqual([]);
  });

  test('throws when a key that was not taken is marked as done', () => {
    const q = queueKit();
    q.add('a');
    expect(() => q.done('a')).toThrow(/not being processed/);
  });

  test('keeps the first reason of a key', () => {
    const q = queueKit();
    q.add('a', 'normal', 'modified');
    q.add('a', 'normal', 'deleted');
    q.take();
    expect(q.last().reason).toBe('modified');
  });

  test('notifies the worker when a key becomes ready, once per key', () => {
    const q = queueKit();
    q.add('a');
    q.add('a');
    expect(q.readies()).toBe(1);
  });

  test('does not return a dropped key, and refuses to drop a key in processing', () => {
    const q = queueKit();
    for (const key of ['a', 'b', 'c']) q.add(key);
    q.addIn('d', 1000);
    for (const key of ['b', 'd', 'unknown']) q.drop(key);
    expect([q.queue.ready, q.queue.waiting]).toEqual([2, 0]);
    expect(q.take()).toBe('a');
    q.drop('a');
    q.done('a');
    q.add('b');
    expect(q.takeAll()).toEqual(['c', 'b']);
  });

  test('holds no reference to a key that is done', () => {
    const q = queueKit();
    for (let i = 0; i < 1000; i++) {
      q.add(`n/${i}`);
      q.take();
      q.done(`n/${i}`);
    }
    expect(q.interner.size).toBe(0);
  });
});

describe('Queue: priorities', () => {
  test('returns low-priority keys of an initial list after the others', () => {
    const q = queueKit();
    q.add('old', 'low');
    q.add('new');
    expect(q.takeAll()).toEqual(['new', 'old']);
  });

  test('raises a low-priority key to normal when it changes, and returns it once', () => {
    const q = queueKit();
    q.add('a', 'low');
    q.add('b', 'low');
    q.add('b');
    expect(q.queue.ready).toBe(2);
    expect(q.takeAll()).toEqual(['b', 'a']);
  });

  test('does not lower the priority of a normal key', () => {
    const q = queueKit();
    q.add('a');
    q.add('a', 'low');
    q.add('b');
    expect(q.takeAll()).toEqual(['a', 'b']);
  });

  test('returns a low-priority key within sixteen takes under constant load', () => {
    const q = queueKit();
    q.add('low', 'low');
    const taken: string[] = [];
    for (let i = 0; i < 32; i++) {
      q.add(`busy-${i}`);
      q.add(`busier-${i}`);
      taken.push(q.take()!);
    }
    expect(taken.indexOf('low')).toBeGreaterThan(0);
    expect(taken.indexOf('low')).toBeLessThan(16);
  });
});

describe('Queue: waiting', () => {
  test('returns a key at its deadline, not a millisecond before', async () => {
    const q = queueKit();
    q.addIn('a', 1000);
    await q.pass(999);
    expect(q.take()).toBeUndefined();
    await q.pass(1);
    expect([q.take(), q.last().reason]).toEqual(['a', 'deadline']);
  });

  test('uses the earliest of several deadlines', () => {
    const q = queueKit();
    q.addIn('a', 1000);
    q.addIn('a', 500);
    q.addIn('a', 2000);
    expect(q.waits('a')).toBe(500);
    expect(q.queue.waiting).toBe(1);
  });

  test('returns a key with a past deadline at once', () => {
    const q = queueKit();
    q.addIn('a', 0);
    expect(q.take()).toBe('a');
  });

  test('drops the old deadline when the key is taken', async () => {
    const q = queueKit();
    q.addIn('a', 1000);
    q.add('a');
    q.take();
    q.addIn('a', 5000);
    q.done('a');
    expect(q.waits('a')).toBe(5000);
    await q.pass(4999);
    expect(q.take()).toBeUndefined();
  });

  test('returns a key after processing when its deadline passed meanwhile', async () => {
    const q = queueKit();
    q.add('a');
    q.take();
    q.addIn('a', 10);
    await q.pass(10);
    expect(q.take()).toBeUndefined();
    q.done('a');
    expect(q.take()).toBe('a');
  });

  test('collects overdue keys while closed and returns them in deadline order when opened', async () => {
    const q = queueKit();
    q.queue.close();
    q.addIn('young', -1000);
    q.addIn('oldest', -3000);
    q.addIn('old', -2000);
    q.addIn('future', 1000);
    await q.pass(10);
    expect(q.take()).toBeUndefined();
    q.queue.open();
    await q.pass(1);
    expect(q.takeAll()).toEqual(['oldest', 'old', 'young']);
  });

  test('holds a reference to waiting keys and releases it when they are done', async () => {
    const q = queueKit();
    q.addIn('a', 1000);
    expect(q.interner.size).toBe(1);
    await q.pass(1000);
    q.take();
    q.done('a');
    expect(q.interner.size).toBe(0);
  });
});

test('reports to the observer how long keys waited and were processed', async () => {
  const seen: string[] = [];
  const q = queueKit({
    observer: {
      added: () => seen.push('added'),
      taken: (waited) => seen.push(`taken after ${waited}`),
      finished: (worked) => seen.push(`worked ${worked}`),
    },
  });
  q.add('a');
  q.add('a');
  await q.pass(30);
  q.take();
  await q.pass(20);
  expect([...q.queue.running()]).toEqual([20]);
  q.done('a');
  expect(seen).toEqual(['added', 'taken after 30', 'worked 20']);
});
