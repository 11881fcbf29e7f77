import { ConfigMap, refuse } from '@lapse/runtime/world.testkit';
import { expect, test } from 'vitest';
import { inKit } from './deletes.testkit.ts';

const isDelete = ({ method, path }: { method: string; path: string }) =>
  method === 'DELETE' && path.includes('/configmaps/a');

test(
  'an open answer, then a live object of a later version: what somebody else does to that is not ours',
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
  'an open answer, then seen alive in a later version, and deleted by somebody else when it is due: not ours',
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
  'no answer, then a live object of a later version that is still due, deleted by somebody else: not ours',
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
  'an open answer, carried out on something with finalizers, and changed meanwhile: terminating, ours',
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
