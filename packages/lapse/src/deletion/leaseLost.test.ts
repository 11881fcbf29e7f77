import { TransportError } from '@lapse/kube/client/transport';
import { expect, test } from 'vitest';
import { inKit } from './deletes.testkit.ts';

const isDelete = ({ method }: { method: string }) => method === 'DELETE';
const cutOff = () => new TransportError('aborted', 'the lease was lost', { sent: true });

test.each([
  ['deleted', {}],
  ['terminating', { finalizers: ['example.com/hold'] }],
])('counts a DELETE that took effect while the lease was lost: %s', (outcome, metadata) =>
  inKit({}, async (k) => {
    await k.put('a', 1000, metadata);
    k.manager.start();
    k.hook = async (request) => {
      if (!isDelete(request)) return undefined;
      await k.server.handle(request);
      throw cutOff();
    };
    await k.pass(2000);
    expect([k.deletions, k.asked('a')]).toEqual([[`a ${outcome}`], ['DELETE', 'GET']]);
  })(),
);

test(
  'does not count a DELETE that was aborted and did not take effect',
  inKit({}, async (k) => {
    await k.put('a', 1000);
    k.manager.start();
    let times = 0;
    k.hook = async (request) => {
      if (isDelete(request) && ++times === 1) throw cutOff();
      return undefined;
    };
    await k.pass(1000);
    expect([k.deletions, k.asked('a')]).toEqual([[], ['DELETE', 'GET']]);
    await k.pass(1000);
    expect(k.deletions).toEqual(['a deleted']);
  }),
);
