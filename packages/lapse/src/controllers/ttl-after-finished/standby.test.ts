import { TransportError } from '@lapse/kube/client/transport';
import { refuse } from '@lapse/runtime/world.testkit';
import { expect, test } from 'vitest';
import { inTtlWorld, type TtlWorld } from './ttl.testkit.ts';

test(
  'a replica that has never led forgets objects that were deleted',
  inTtlWorld({ elector: { start: () => {}, stop: async () => {} } }, async (k) => {
    await k.finishedJob('listed', 3600);
    k.start();
    await k.pass(1);
    await k.remove('listed');
    for (let i = 0; i < 300; i++) {
      await k.createJob(`j${i}`, 10);
      await k.remove(`j${i}`);
    }
    await k.pass(3600);
    expect(k.world.manager.interner.size).toBe(0);
    expect(k.metric('lapse_ttl_waiting{kind="Job"}')).toBe(0);
  }),
);

function handElector() {
  let lead = (_isLeading: boolean) => {};
  const elector = {
    start: (on: { gained(): void; lost(): void }) => {
      lead = (isLeading) => (isLeading ? on.gained() : on.lost());
    },
    stop: async () => {},
  };
  return { elector, lead: (isLeading: boolean) => lead(isLeading) };
}

test('a replica that lost the lease forgets objects that are deleted afterwards', () => {
  const { elector, lead } = handElector();
  return inTtlWorld({ elector }, async (k) => {
    await k.finishedJob('listed', 3600);
    await k.finishedJob('stays', 9999);
    k.start();
    await k.pass(1);
    lead(true);
    await k.pass(1);
    lead(false);
    await k.pass(1);
    await k.remove('listed');
    for (let i = 0; i < 300; i++) {
      await k.finishedJob(`j${i}`, 10);
      await k.remove(`j${i}`);
    }
    await k.pass(3600);
    expect(k.world.manager.interner.size).toBe(1);
    expect(k.metric('lapse_ttl_waiting{kind="Job"}')).toBe(1);
  })();
});

const COUNTED = {
  deleted: 'lapse_ttl_deleted_total{kind="Job",namespace="default",outcome="deleted"}',
  attempts: 'lapse_deletions_total{controller="ttl-after-finished",outcome="deleted"}',
};

/** The lease is lost during the DELETE, and the object cannot be read for a while. */
function loseLeaseDuringDelete(k: TtlWorld, lead: (isLeading: boolean) => void, carriedOut: boolean): void {
  k.world.interfere = async (request) => {
    if (request.method === 'GET' && request.path.includes('/jobs/report'))
      return refuse(503, 'ServiceUnavailable');
    if (request.method !== 'DELETE') return undefined;
    if (carriedOut) await k.world.server.handle(request);
    lead(false);
    throw new TransportError('aborted', 'the lease was lost', { sent: true });
  };
}

test('a DELETE that was in flight when the lease was lost is counted once, when the removal is seen', () => {
  const { elector, lead } = handElector();
  return inTtlWorld({ elector, configuration: { jobPropagation: 'Background' } }, async (k) => {
    await k.finishedJob('report', 10);
    k.start();
    await k.pass(1);
    lead(true);
    loseLeaseDuringDelete(k, lead, true);
    k.world.holdEvents();
    await k.pass(10);
    expect([k.metric(COUNTED.deleted) ?? 0, k.metric(COUNTED.attempts)]).toEqual([0, 0]);
    k.world.releaseEvents();
    await k.pass(1);
    expect([k.metric(COUNTED.deleted), k.metric(COUNTED.attempts)]).toEqual([1, 1]);
    expect(k.metric('lapse_ttl_competing_deletions_total{kind="Job"}')).toBe(0);
    lead(true);
    await k.pass(60);
    expect([k.metric(COUNTED.deleted), k.metric(COUNTED.attempts)]).toEqual([1, 1]);
  })();
});

test('a DELETE that did not take effect when the lease was lost is not counted when another leader deletes the object', () => {
  const { elector, lead } = handElector();
  return inTtlWorld({ elector, configuration: { jobPropagation: 'Background' } }, async (k) => {
    await k.finishedJob('report', 10);
    k.start();
    await k.pass(1);
    lead(true);
    loseLeaseDuringDelete(k, lead, false);
    await k.pass(10);
    await k.pass(10);
    await k.remove('report');
    await k.pass(1);
    expect([k.metric(COUNTED.deleted) ?? 0, k.metric(COUNTED.attempts)]).toEqual([0, 0]);
    expect(k.world.manager.interner.size).toBe(0);
  })();
});
