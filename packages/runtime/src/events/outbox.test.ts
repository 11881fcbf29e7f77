import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { millis, seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { Registry } from '../metrics/registry.ts';
import { KubeEvent } from './build.ts';
import { EventSender } from './outbox.ts';
import type { EventNote, RegardingObject } from './types.ts';

let server: ApiServer | undefined;
afterEach(async () => {
  await server?.close();
});

async function setup() {
  const clock = new VirtualClock();
  const made = await createServer({ clock, random: seededRandom(9) });
  server = made;
  const random = seededRandom(1);
  const registry = new Registry();
  const state = {
    fault: undefined as undefined | number | 'lose' | 'hang',
    requests: 0,
    /** Requests wait for this promise before they reach the server. */
    gate: undefined as undefined | Promise<void>,
  };
  const transport = inProcessTransport(async (request) => {
    state.requests++;
    await state.gate;
    const { fault } = state;
    if (fault === 'hang') return new Promise(() => {});
    if (typeof fault === 'number') return { status: fault, headers: {}, body: new Uint8Array() };
    const answer = await made.handle(request);
    if (fault === 'lose') throw new Error('lost');
    return answer;
  });
  const client = createClient({ transport, clock, random, flow: 'none' });
  const user = createClient({ transport: inProcessTransport(made.handle), clock, random, flow: 'none' });
  const outbox = new EventSender({ client, clock, random, log: silentLog, registry, instance: 'host-1' });
  const settle = async () => {
    for (let i = 0; i < 8; i++) await nextTurn();
  };
  return {
    clock,
    outbox,
    state,
    registry,
    say: (reason: string, name = 'a', more: Partial<EventNote> = {}) =>
      outbox.sink.record(
        pod(name),
        { type: 'Normal', reason, action: 'Delete', note: 'because', ...more },
        'ttl-after-finished',
      ),
    events: async () => (await user.list(KubeEvent)).items,
    settle,
    pass: (length: number) => clock.advance(millis(length), settle),
  };
}

const pod = (name: string): RegardingObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '7' },
});

describe('EventSender', () => {
  test('creates an events.k8s.io/v1 Event regarding the object', async () => {
    const s = await setup();
    s.say('Deleted');
    expect(s.outbox.pending).toBe(1);
    await s.settle();
    expect(s.outbox.pending).toBe(0);
    const [event] = await s.events();
    expect(event).toMatchObject({
      metadata: { namespace: 'default' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'lapse.dev/ttl-after-finished',
      reportingInstance: 'host-1',
      action: 'Delete',
      reason: 'Deleted',
      type: 'Normal',
      note: 'because',
      regarding: {
        apiVersion: 'v1',
        kind: 'Pod',
        name: 'a',
        namespace: 'default',
        uid: 'uid-a',
        resourceVersion: '7',
      },
    });
    expect(event!.metadata.name).toMatch(/^a\.[0-9a-f]{16}$/);
  });

  test('aggregates repeated Events into one series and writes the final count', async () => {
    const s = await setup();
    for (let i = 0; i < 10; i++) {
      s.say('Held');
      await s.pass(1000);
    }
    expect(await s.events()).toHaveLength(1);
    expect(s.state.requests).toBe(2);
    await s.pass(20 * 60_000);
    expect((await s.events())[0]?.series).toEqual({
      count: 10,
      lastObservedTime: '2026-01-01T00:00:09.000000Z',
    });
    expect(s.state.requests).toBe(3);
    expect(s.clock.next()).toBeUndefined();
  });

  test('runs one write per Event at a time, so that counts stay in order, and other Events in parallel', async () => {
    const s = await setup();
    const gate = Promise.withResolvers<void>();
    s.state.gate = gate.promise;
    for (let i = 0; i < 7; i++) s.say('Held');
    s.say('Held', 'b');
    const closed = s.outbox.close(seconds(10));
    await s.settle();
    expect(s.state.requests).toBe(2);
    gate.resolve();
    await closed;
    const counts = (await s.events()).map((e) => [e.regarding.name, e.series?.count]);
    expect(counts.sort()).toEqual([
      ['a', 7],
      ['b', undefined],
    ]);
  });

  test('retries about every ten seconds while the server is unavailable, without blocking the caller', async () => {
    const s = await setup();
    s.state.fault = 503;
    s.say('Deleted');
    await s.settle();
    expect(s.outbox.pending).toBe(0);
    await s.pass(30_000);
    expect(s.state.requests).toBeLessThanOrEqual(4);
    s.state.fault = undefined;
    await s.pass(13_000);
    expect(await s.events()).toHaveLength(1);
  });

  test('does not create a second Event when a response is lost', async () => {
    const s = await setup();
    s.state.fault = 'lose';
    s.say('Deleted');
    await s.settle();
    s.state.fault = undefined;
    await s.pass(13_000);
    expect(await s.events()).toHaveLength(1);
    expect(s.registry.text()).toContain('lapse_events_dropped_total 0');
  });

  test('drops and counts a rejected Event without a retry', async () => {
    const s = await setup();
    s.state.fault = 403;
    s.say('Deleted');
    await s.pass(60_000);
    expect([s.state.requests, s.registry.text().includes('lapse_events_dropped_total 1')]).toEqual([1, true]);
  });

  test('queues at most a thousand Events while the server is unavailable', async () => {
    const s = await setup();
    s.state.fault = 'hang';
    for (let i = 0; i < 3000; i++) s.say('Deleted', `p${i}`);
    await s.settle();
    const dropped = Number(/lapse_events_dropped_total (\d+)/.exec(s.registry.text())![1]);
    expect(dropped).toBe(3000 - 1000 - 4);
  });

  test('sends pending Events and counts on close, and accepts no more afterwards', async () => {
    const s = await setup();
    for (let i = 0; i < 5; i++) s.say('Held');
    await s.outbox.close(seconds(2));
    s.say('Deleted');
    await s.settle();
    const events = await s.events();
    expect(events.map((e) => e.series?.count)).toEqual([5]);
  });

  test('closes within the given time', async () => {
    const s = await setup();
    s.state.fault = 'hang';
    s.say('Held');
    let closed = false;
    void s.outbox.close(seconds(2)).then(() => {
      closed = true;
    });
    await s.pass(1999);
    expect(closed).toBe(false);
    await s.pass(1);
    expect(closed).toBe(true);
  });

  test('creates a new Event when the Event of a series expired on the server', async () => {
    const s = await setup();
    s.say('Held');
    await s.settle();
    const user = createClient({
      transport: inProcessTransport(server!.handle),
      clock: s.clock,
      random: seededRandom(2),
      flow: 'none',
    });
    const [event] = await s.events();
    await user.delete(KubeEvent, { namespace: 'default', name: event!.metadata.name! });
    s.say('Held');
    await s.settle();
    expect((await s.events())[0]?.series?.count).toBe(2);
  });
});

test('the API server accepts every built Event (random texts)', async () => {
  const s = await setup();
  const text = fc.string({ unit: 'binary', maxLength: 3000 });
  let said = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }),
      text,
      fc.string({ minLength: 1, maxLength: 300 }),
      async (name, note, reason) => {
        const regarding: RegardingObject = {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name, namespace: 'default', uid: String(said++) },
        };
        s.outbox.sink.record(regarding, { type: 'Warning', reason, action: reason, note }, 'c');
        await s.settle();
        expect(s.registry.text()).toContain('lapse_events_dropped_total 0');
      },
    ),
    { numRuns: 20 },
  );
});
