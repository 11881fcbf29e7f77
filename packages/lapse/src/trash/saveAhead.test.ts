import { instant } from '@lapse/base/instant';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { Burst, SaveRequest } from '#deletion/trash';
import { SaveAhead } from './saveAhead.ts';

const object = (i: number, version = '1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `c${i}`, namespace: 'shop', uid: `uid-${i}`, resourceVersion: version },
});

const request = (it: KubeObject, burst?: Burst): SaveRequest => ({
  kind: ConfigMap,
  object: it,
  origin: { rule: 'TTLPolicy shop/previews', reason: 'by age' },
  deadline: instant(0),
  read: async () => it,
  ...(burst === undefined ? {} : { burst }),
});

/** `due` objects in a collection of `size`, in pages of 100; `live` changes what the list returns. */
class Collection {
  lists = 0;
  /** Objects below this index are deleted. */
  #from = 0;
  readonly stored: string[] = [];
  readonly burst: Burst;
  readonly ahead: SaveAhead;

  constructor(due: number, size = due, live: (i: number) => KubeObject = (i) => object(i), refuses = false) {
    const self = this;
    this.burst = {
      size,
      due: (most) =>
        Array.from({ length: Math.min(due - self.#from, most) }, (_, i) => request(object(self.#from + i))),
      async *pages() {
        self.lists++;
        for (let from = self.#from; from < due; from += 100)
          yield Array.from({ length: Math.min(100, due - from) }, (_, i) => live(from + i));
      },
    };
    this.ahead = new SaveAhead(async (batch) => {
      if (refuses) throw new Error('the quota is exceeded');
      this.stored.push(...batch.map((it) => it.live.metadata.uid ?? ''));
      return batch;
    });
  }

  /** Which of the first `count` objects were saved ahead. */
  async saved(count: number): Promise<boolean[]> {
    const results: boolean[] = [];
    for (; this.#from < count; this.#from++)
      results.push(await this.ahead.isSaved(request(object(this.#from), this.burst)));
    return results;
  }
}

describe('SaveAhead', () => {
  test('the first objects of a rule are saved by the caller, the others by one list', async () => {
    const all = new Collection(300);
    const saved = await all.saved(300);
    expect(saved.indexOf(true)).toBe(15);
    expect(saved.slice(15)).not.toContain(false);
    expect(all.lists).toBe(1);
    expect(all.stored).toHaveLength(285);
  });

  test('few due objects, or few among many, are never listed', async () => {
    for (const [due, size] of [
      [15, 15],
      [40, 401],
    ] as const) {
      const few = new Collection(due, size);
      expect(await few.saved(due)).not.toContain(true);
      expect(few.lists).toBe(0);
    }
  });

  test('an object that changed before the list is saved by the caller', async () => {
    const changed = new Collection(60, 60, (i) => object(i, i === 30 ? '2' : '1'));
    const saved = await changed.saved(60);
    expect(saved[30]).toBe(false);
    expect(changed.stored).not.toContain('uid-30');
  });

  test('an object that changed after the list is saved again', async () => {
    const all = new Collection(60);
    await all.saved(20);
    expect(await all.ahead.isSaved(request(object(40, '2'), all.burst))).toBe(false);
    expect(await all.ahead.isSaved(request(object(41), all.burst))).toBe(true);
  });

  test('if the store refuses, every object is saved by the caller, which reports the error', async () => {
    const refused = new Collection(60, 60, undefined, true);
    expect(await refused.saved(60)).not.toContain(true);
  });

  test('objects that are due later than the list are listed again', async () => {
    const many = new Collection(2500);
    const saved = await many.saved(2500);
    expect(saved.filter((isSaved) => !isSaved)).toHaveLength(30);
    expect(many.lists).toBe(2);
  });
});
