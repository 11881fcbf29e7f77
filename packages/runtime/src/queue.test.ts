import { describe, expect, test } from 'vitest';
import { queueKit } from './queue.testkit.ts';

describe('adding and taking', () => {
  test('keys come in the order they were added, each once', () => {
    const q = queueKit();
    for (const key of ['a', 'b', 'a', 'c', 'b']) q.add(key);
    expect(q.queue.ready).toBe(3);
    expect(q.takeAll()).toEqual(['a', 'b', 'c']);
  });

  test('a key that is being worked on is not given to a second worker', () => {
    const q = queueKit();
    q.add('a');
    expect(q.take()).toBe('a');
    q.add('a');
    expect([q.take(), q.queue.ready, q.queue.processing]).toEqual([undefined, 0, 1]);
    q.done('a');
    expect(q.take()).toBe('a');
  });

  test('a key that changed while it was worked on comes once more, not twice', () => {
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

  test('giving back what nobody took is a bug that says so', () => {
    const q = queueKit();
    q.add('a');
    expect(() => q.done('a')).toThrow(/nobody had/);
  });

  test('the reason of a pass is the first that woke it', () => {
    const q = queueKit();
    q.add('a', 'normal', 'modified');
    q.add('a', 'normal', 'deleted');
    q.take();
    expect(q.last().reason).toBe('modified');
  });

  test('a worker is told when there is something to take, and not again for what is there already', () => {
    const q = queueKit();
    q.add('a');
    q.add('a');
    expect(q.readies()).toBe(1);
  });

  test('a key that is dropped is not given out; dropped while it is worked on, it stays', () => {
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

  test('nothing is held of a key that is done', () => {
    const q = queueKit();
    for (let i = 0; i < 1000; i++) {
      q.add(`n/${i}`);
      q.take();
      q.done(`n/${i}`);
    }
    expect(q.interner.size).toBe(0);
  });
});

describe('priorities', () => {
  test('keys of an initial list wait for the others', () => {
    const q = queueKit();
    q.add('old', 'low');
    q.add('new');
    expect(q.takeAll()).toEqual(['new', 'old']);
  });

  test('a low key that changes becomes normal, once', () => {
    const q = queueKit();
    q.add('a', 'low');
    q.add('b', 'low');
    q.add('b');
    expect(q.queue.ready).toBe(2);
    expect(q.takeAll()).toEqual(['b', 'a']);
  });

  test('a normal key does not become low', () => {
    const q = queueKit();
    q.add('a');
    q.add('a', 'low');
    q.add('b');
    expect(q.takeAll()).toEqual(['a', 'b']);
  });

  test('however busy the cluster, a low key is taken within sixteen passes', () => {
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

describe('waiting', () => {
  test('a key comes at its instant, not a millisecond before', async () => {
    const q = queueKit();
    q.addIn('a', 1000);
    await q.pass(999);
    expect(q.take()).toBeUndefined();
    await q.pass(1);
    expect([q.take(), q.last().reason]).toEqual(['a', 'deadline']);
  });

  test('the earliest wish wins', () => {
    const q = queueKit();
    q.addIn('a', 1000);
    q.addIn('a', 500);
    q.addIn('a', 2000);
    expect(q.waits('a')).toBe(500);
    expect(q.queue.waiting).toBe(1);
  });

  test('what is due at once does not wait', () => {
    const q = queueKit();
    q.addIn('a', 0);
    expect(q.take()).toBe('a');
  });

  test('a pass forgets the old wish: it decides anew when to look again', async () => {
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

  test('a wish that comes due while the key is worked on is honoured after', async () => {
    const q = queueKit();
    q.add('a');
    q.take();
    q.addIn('a', 10);
    await q.pass(10);
    expect(q.take()).toBeUndefined();
    q.done('a');
    expect(q.take()).toBe('a');
  });

  test('while closed, overdue keys collect; opened, they come out oldest deadline first', async () => {
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

  test('waiting keys are held, and let go when they are done', async () => {
    const q = queueKit();
    q.addIn('a', 1000);
    expect(q.interner.size).toBe(1);
    await q.pass(1000);
    q.take();
    q.done('a');
    expect(q.interner.size).toBe(0);
  });
});

test('the observer sees how long keys waited and were worked on', async () => {
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
