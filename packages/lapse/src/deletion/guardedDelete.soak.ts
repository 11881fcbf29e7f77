// Ten thousand deletions at one instant, with conflicts on every object.

import { expect, test } from 'vitest';
import { inKit } from './deletes.testkit.ts';

const COUNT = 10_000;
const nameOf = (path: string) => /configmaps\/([^?]+)/.exec(path)?.[1];

test(
  'deletes ten thousand objects that change just before their DELETE, while one object changes all the time',
  inKit({ concurrency: 32 }, async (k) => {
    for (let i = 0; i < COUNT; i++) await k.put(`a${i}`, 60_000);
    await k.put('busy', 60_000);
    k.manager.start();
    await k.settle();
    const touched = new Set<string>();
    k.hook = async ({ method, path }) => {
      const name = method === 'DELETE' ? nameOf(path) : undefined;
      if (name === undefined || (touched.has(name) && name !== 'busy')) return undefined;
      touched.add(name);
      await k.patch(name, { metadata: { labels: { touched: String(k.requests.length) } } });
      return undefined;
    };
    await k.pass(60_000);
    expect(k.deleted).toHaveLength(COUNT);
    expect(new Set(k.deleted.map(({ at }) => at))).toEqual(new Set([60_000]));
    const asked = k.requests.filter((r) => r.includes('/configmaps/a'));
    expect(asked).toHaveLength(3 * COUNT);
    expect(k.asked('busy').length).toBeLessThanOrEqual(6);
    k.hook = () => undefined;
    await k.pass(10_000);
    expect(k.deleted).toHaveLength(COUNT + 1);
  }),
);

test(
  'deletes ten thousand objects at exactly the budget of 50 per second, with two reconciles each',
  inKit({ concurrency: 32, budget: { perSecond: 50 } }, async (k) => {
    for (let i = 0; i < COUNT; i++) await k.put(`a${i}`, 1000);
    k.manager.start();
    await k.pass(220_000);
    expect(k.deleted).toHaveLength(COUNT);
    const times = k.deleted.map(({ at }) => at);
    for (let i = 50; i < COUNT; i++) expect(times[i]! - times[i - 50]!).toBeGreaterThanOrEqual(1000);
    expect(k.deletions.length).toBeLessThanOrEqual(2 * COUNT);
  }),
);
