import { ConfigMap, refuse } from '@lapse/runtime/world.testkit';
import { expect, test } from 'vitest';
import { inKit } from './deletes.testkit.ts';

const isDelete = ({ method, path }: { method: string; path: string }) =>
  method === 'DELETE' && path.includes('/configmaps/a');

test(
  'a deletion by another client does not count after an unanswered DELETE and an extension in a later version',
  inKit({}, async (k) => {
    await k.put('a', 1000);
    k.manager.start();
    let times = 0;
    k.hook = async (request) => {
      if (!isDelete(request)) return undefined;
      times++;
      if (times === 1) return refuse(504, 'Timeout');
      if (times === 2) await k.extend('a', 60_000);
      if (times === 3) await k.user.delete(ConfigMap, k.key('a'));
      return undefined;
    };
    await k.pass(120_000);
    expect(times).toBe(3);
    expect(k.deletions).toEqual(['a kept', 'a gone']);
  }),
);

test(
  'a deletion by another client at the new deadline does not count after an unanswered DELETE and a later version',
  inKit({}, async (k) => {
    await k.put('a', 1000);
    k.manager.start();
    let times = 0;
    k.hook = async (request) => {
      if (!isDelete(request)) return undefined;
      if (++times === 1) {
        await k.extend('a', 60_000);
        return refuse(504, 'Timeout');
      }
      await k.user.delete(ConfigMap, k.key('a'));
      return undefined;
    };
    await k.pass(120_000);
    expect(times).toBe(2);
    expect(k.deletions).toEqual(['a gone']);
  }),
);

test(
  'a deletion by another client does not count after an unanswered DELETE and a later version that is still due',
  inKit({}, async (k) => {
    await k.put('a', 1000);
    k.manager.start();
    let times = 0;
    k.hook = async (request) => {
      if (!isDelete(request)) return undefined;
      times++;
      if (times === 1) throw new Error('the connection was lost before the server read it');
      if (times === 2) await k.patch('a', { data: { note: 'x' } });
      if (times === 3) await k.user.delete(ConfigMap, k.key('a'));
      return undefined;
    };
    await k.pass(120_000);
    expect(times).toBe(3);
    expect(k.deletions).toEqual(['a gone']);
  }),
);

test(
  'an unanswered DELETE that took effect counts as terminating although the object changed meanwhile',
  inKit({}, async (k) => {
    await k.put('a', 1000, { finalizers: ['example.com/hold'] });
    k.manager.start();
    let first = true;
    k.hook = async (request) => {
      if (!isDelete(request) || !first) return undefined;
      first = false;
      return 'lose';
    };
    k.onDeleted = () => void k.patch('a', { data: { note: 'x' } });
    await k.pass(5000);
    expect(k.deletions).toEqual(['a terminating']);
  }),
);
