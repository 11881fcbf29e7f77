import { ConfigMap, refuse } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import { inKit, type Kit } from './deletes.testkit.ts';

const isDelete = (request: { method: string; path: string }, name: string) =>
  request.method === 'DELETE' && request.path.includes(`/configmaps/${name}`);

/** Calls `act` just before the n-th DELETE of an object reaches the server. */
function justBefore(kit: Kit, name: string, act: (time: number) => Promise<unknown> | undefined): void {
  let time = 0;
  kit.hook = async (request) => {
    if (isDelete(request, name)) await act(++time);
    return undefined;
  };
}

/** The server carries out the first DELETE of an object, but the response is lost. */
function loseFirst(kit: Kit, name: string): void {
  let first = true;
  kit.hook = (request) => {
    if (!isDelete(request, name) || !first) return undefined;
    first = false;
    return 'lose';
  };
}

describe('a due object', () => {
  test(
    'is deleted by one request, at its deadline, with uid and resourceVersion',
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
    'that became due during downtime is deleted with the real lag in the metrics',
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
    'with finalizers is terminating, and no second DELETE is sent',
    inKit({}, async (k) => {
      await k.put('a', 1000, { finalizers: ['example.com/hold'] });
      k.manager.start();
      await k.pass(60_000);
      expect([k.deletions, k.asked('a')]).toEqual([['a terminating'], ['DELETE']]);
      expect((await k.get('a'))?.metadata.deletionTimestamp).toBeDefined();
    }),
  );

  test(
    'that is already gone causes no error',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      justBefore(k, 'a', () => k.user.delete(ConfigMap, k.key('a')));
      await k.pass(2000);
      expect(k.deletions).toEqual(['a gone']);
    }),
  );
});

describe('an object that changes between the decision and the DELETE', () => {
  test(
    'is kept if its deadline was extended, and deleted at its new deadline',
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
    'is read once and deleted with its new version if it is still due',
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
    'counts its lag from the deadline of the version that was deleted',
    inKit({}, async (k) => {
      await k.put('a', 10_000);
      k.manager.start();
      justBefore(k, 'a', (time) => (time === 1 ? k.extend('a', -4_000) : undefined));
      await k.pass(10_000);
      expect([k.deletions, k.lags]).toEqual([['a deleted'], [4_000]]);
    }),
  );

  test(
    'is kept if it was deleted and recreated under the same name',
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
    'is not deleted again if another client deleted it and a finalizer keeps it',
    inKit({}, async (k) => {
      await k.put('a', 10_000, { finalizers: ['example.com/hold'] });
      k.manager.start();
      justBefore(k, 'a', (time) => (time === 1 ? k.user.delete(ConfigMap, k.key('a')) : undefined));
      await k.pass(60_000);
      expect(k.deletions).toEqual(['a kept']);
    }),
  );
});

describe('an object that changes before every DELETE', () => {
  test(
    'gets three DELETEs per reconcile, blocks no other object, causes no error, and is reported after twenty reconciles',
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
      // The slow retry interval is 2.5 s: at most 60 reconciles in 120 s.
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

describe('a DELETE without a response', () => {
  test(
    'that took effect counts once as a deletion by Lapse',
    inKit({}, async (k) => {
      await k.put('a', 1000);
      k.manager.start();
      loseFirst(k, 'a');
      await k.pass(5000);
      expect([k.deletions, k.asked('a')]).toEqual([['a deleted'], ['DELETE', 'DELETE']]);
    }),
  );

  test(
    'that took effect on an object with finalizers counts as terminating',
    inKit({}, async (k) => {
      await k.put('a', 1000, { finalizers: ['example.com/hold'] });
      k.manager.start();
      loseFirst(k, 'a');
      await k.pass(5000);
      expect(k.deletions).toEqual(['a terminating']);
    }),
  );

  test(
    'that did not take effect is repeated until it does',
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
    'in a dry run does not count when another client deletes the object later',
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

describe('a refused DELETE', () => {
  test(
    'by a webhook that answers 409 causes no read and is retried with backoff',
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
    'by a conflict although the object did not change is reported and retried with backoff',
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
    'with 403 emits an Event, counts in a metric, and is retried at most every five minutes',
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

  test.each([429, 500, 503])('with %i is retried by the queue', (code) =>
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
