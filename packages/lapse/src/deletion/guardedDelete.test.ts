import { ConfigMap, refuse } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import { inKit, type Kit } from './deletes.testkit.ts';

const isDelete = (request: { method: string; path: string }, name: string) =>
  request.method === 'DELETE' && request.path.includes(`/configmaps/${name}`);

/** Does something just before the n-th DELETE of an object reaches the server. */
function justBefore(kit: Kit, name: string, act: (time: number) => Promise<unknown> | undefined): void {
  let time = 0;
  kit.hook = async (request) => {
    if (isDelete(request, name)) await act(++time);
    return undefined;
  };
}

/** The first DELETE of an object is carried out, and its answer does not arrive. */
function loseFirst(kit: Kit, name: string): void {
  let first = true;
  kit.hook = (request) => {
    if (!isDelete(request, name) || !first) return undefined;
    first = false;
    return 'lose';
  };
}

describe('the ordinary case', () => {
  test(
    'one request, at the instant, with uid and version',
    inKit({}, async (k) => {
      const bodies: unknown[] = [];
      k.hook = ({ method, body }) => {
        if (method === 'DELETE') bodies.push(JSON.parse(Buffer.from(body!).toString()));
        return undefined;
      };
      k.manager.start();
      await k.put('a', 90_000);
      const { uid, resourceVersion } = (await k.get('a'))!.metadata;
      await k.pass(89_999);
      expect(k.deleted).toEqual([]);
      await k.pass(1);
      expect(k.deleted).toEqual([{ name: 'a', at: 90_000 }]);
      expect(k.asked('a')).toEqual(['DELETE']);
      expect(bodies).toMatchObject([{ preconditions: { uid, resourceVersion } }]);
      expect([k.deletions, k.lags]).toEqual([['a deleted'], [0]]);
    }),
  );

  test(
    'after downtime the lag is said honestly',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      await k.pass(61_000);
      k.manager.start();
      await k.pass(10);
      expect(k.lags).toEqual([60_000]);
      expect(k.manager.registry.text()).toContain(
        'lapse_deletion_lag_seconds_bucket{controller="ends",le="102.4"} 1',
      );
    }),
  );

  test(
    'with finalizers: accepted, and not asked again',
    inKit({}, async (k) => {
      await k.put('a', 1000, { finalizers: ['example.com/hold'] });
      k.manager.start();
      await k.pass(60_000);
      expect([k.deletions, k.asked('a')]).toEqual([['a terminating'], ['DELETE']]);
      expect((await k.get('a'))?.metadata.deletionTimestamp).toBeDefined();
    }),
  );

  test(
    'already gone when we come',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      justBefore(k, 'a', () => k.user.delete(ConfigMap, k.key('a')));
      await k.pass(2000);
      expect(k.deletions).toEqual(['a gone']);
    }),
  );
});

describe('what changed between the decision and the DELETE', () => {
  test(
    'extended at the last moment: kept, and deleted at its new deadline',
    inKit({}, async (k) => {
      await k.put('a', 10_000);
      k.manager.start();
      justBefore(k, 'a', (time) => (time === 1 ? k.extend('a', 60_000) : undefined));
      await k.pass(10_000);
      expect([k.deletions, k.asked('a')]).toEqual([['a kept'], ['DELETE', 'GET']]);
      await k.pass(60_000);
      expect(k.deleted).toEqual([{ name: 'a', at: 70_000 }]);
    }),
  );

  test(
    'touched, but still due: read once, deleted with the new version',
    inKit({}, async (k) => {
      await k.put('a', 10_000);
      k.manager.start();
      justBefore(k, 'a', (time) =>
        time === 1 ? k.patch('a', { metadata: { labels: { x: 'y' } } }) : undefined,
      );
      await k.pass(10_000);
      expect([k.deletions, k.asked('a')]).toEqual([['a deleted'], ['DELETE', 'GET', 'DELETE']]);
      expect(k.manager.registry.text()).toContain('lapse_deletion_conflicts_total{controller="ends"} 1');
    }),
  );

  test(
    'deleted and made again under its name: the newcomer stays',
    inKit({}, async (k) => {
      await k.put('a', 10_000);
      k.manager.start();
      justBefore(k, 'a', async (time) => {
        if (time !== 1) return;
        await k.user.delete(ConfigMap, k.key('a'));
        await k.put('a', 3_600_000);
      });
      await k.pass(20_000);
      expect(k.deletions).toEqual(['a gone']);
      expect(await k.get('a')).toBeDefined();
    }),
  );

  test(
    'deleted by somebody else, held by a finalizer: not ours, not again',
    inKit({}, async (k) => {
      await k.put('a', 10_000, { finalizers: ['example.com/hold'] });
      k.manager.start();
      justBefore(k, 'a', (time) => (time === 1 ? k.user.delete(ConfigMap, k.key('a')) : undefined));
      await k.pass(60_000);
      expect(k.deletions).toEqual(['a kept']);
    }),
  );
});

describe('an object that changes all the time', () => {
  test(
    'three rounds per pass, then others have their turn; never an error; told after twenty passes',
    inKit({ concurrency: 1 }, async (k) => {
      await k.put('busy', 1000);
      for (let i = 0; i < 20; i++) await k.put(`calm-${i}`, 1000);
      k.manager.start();
      justBefore(k, 'busy', (time) => k.patch('busy', { metadata: { labels: { n: String(time) } } }));
      await k.pass(1000);
      expect(k.deleted).toHaveLength(20);
      expect(k.asked('busy')).toEqual(['DELETE', 'GET', 'DELETE', 'GET', 'DELETE', 'GET']);
      await k.pass(120_000);
      const contended = k.deletions.filter((d) => d === 'busy contended').length;
      expect(contended).toBeGreaterThan(20);
      // At most every 2.5 s once it is slow: 120 s is not more than 60 passes.
      expect(contended).toBeLessThan(60);
      expect(k.events.map(({ name, note }) => `${name} ${note.reason}`)).toEqual(['busy DeletionContended']);
      expect(k.manager.registry.text()).toContain('lapse_deletion_contended_total{controller="ends"} 1');
      expect(k.manager.registry.text()).toContain(
        'controller_runtime_reconcile_total{controller="ends",result="error"} 0',
      );
      k.hook = () => undefined;
      await k.pass(6000);
      expect(k.deleted.at(-1)!.name).toBe('busy');
    }),
  );
});

describe('answers that do not come', () => {
  test(
    'carried out, answer lost: counts as ours, once',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      loseFirst(k, 'a');
      await k.pass(5000);
      expect([k.deletions, k.asked('a')]).toEqual([['a deleted'], ['DELETE', 'DELETE']]);
    }),
  );

  test(
    'carried out on something with finalizers, answer lost: terminating, ours',
    inKit({}, async (k) => {
      await k.put('a', 1000, { finalizers: ['example.com/hold'] });
      k.manager.start();
      loseFirst(k, 'a');
      await k.pass(5000);
      expect(k.deletions).toEqual(['a terminating']);
    }),
  );

  test(
    'not carried out: again, until it is',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      let times = 0;
      k.hook = (request) => (isDelete(request, 'a') && ++times <= 4 ? 'hang' : undefined);
      await k.pass(200_000);
      expect(k.deleted).toHaveLength(1);
      expect(k.deletions).toEqual(['a deleted']);
    }),
  );

  test(
    'to a dry run, and then deleted by somebody else: not ours',
    inKit({ dryRun: true }, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      let times = 0;
      k.hook = async (request) => {
        if (!isDelete(request, 'a')) return undefined;
        if (++times === 1) return 'lose';
        await k.user.delete(ConfigMap, k.key('a'));
        return undefined;
      };
      await k.pass(5000);
      expect(k.deletions).toEqual(['a gone']);
    }),
  );
});

describe('refusals', () => {
  test(
    'a webhook that answers 409 is not a change: no reading, backoff',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      k.hook = (request) =>
        isDelete(request, 'a')
          ? refuse(409, 'Conflict', 'admission webhook "x" denied the request: keep', { name: 'a' })
          : undefined;
      await k.pass(60_000);
      expect(k.deletions[0]).toBe('a refused');
      expect(new Set(k.asked('a'))).toEqual(new Set(['DELETE']));
      expect(k.asked('a').length).toBeLessThan(20);
    }),
  );

  test(
    'a conflict although nothing changed: said, and asked again with patience',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      k.hook = (request) =>
        isDelete(request, 'a')
          ? refuse(409, 'Conflict', 'Operation cannot be fulfilled: Precondition failed', { name: 'a' })
          : undefined;
      await k.pass(60_000);
      expect(new Set(k.deletions)).toEqual(new Set(['a refused']));
      expect(k.asked('a').slice(0, 3)).toEqual(['DELETE', 'GET', 'DELETE']);
      expect(k.asked('a').length).toBeLessThan(40);
      k.hook = () => undefined;
      await k.pass(300_000);
      expect(k.deletions.at(-1)).toBe('a deleted');
    }),
  );

  test(
    '403: an Event and a metric, and at most one request every five minutes in the end',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      k.hook = (request) =>
        isDelete(request, 'a')
          ? refuse(403, 'Forbidden', 'configmaps "a" is forbidden', { name: 'a' })
          : undefined;
      await k.pass(3_600_000);
      const before = k.asked('a').length;
      await k.pass(3_600_000);
      expect(k.asked('a').length - before).toBeLessThanOrEqual(24);
      expect(before).toBeLessThan(40);
      expect(k.events[0]).toMatchObject({ name: 'a', note: { reason: 'Forbidden' } });
      expect(k.manager.registry.text()).toMatch(/lapse_forbidden_total\{controller="ends"\} [1-9]/);
    }),
  );

  test.each([429, 500, 503])('%i is retried by the queue', (code) =>
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      let times = 0;
      k.hook = (request) => (isDelete(request, 'a') && ++times <= 3 ? refuse(code, 'x') : undefined);
      await k.pass(10_000);
      expect(k.deletions).toEqual(['a deleted']);
    })(),
  );
});
