// Soak test: a slow controller receives 100,000 events. None is lost, and the watch stream is never blocked.

import { realClock } from '@lapse/base/clock';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { expect, test } from 'vitest';
import { type ControllerDefinition, defineController } from './definition.ts';
import { FakeServer } from './fakeServer.testkit.ts';
import { Manager } from './manager.ts';
import { settled } from './outcome.ts';
import { Thing } from './reflector.testkit.ts';

const OBJECTS = 1000;
const ROUNDS = 100;

test("with a slow controller and 100,000 events every object's last reconcile sees its last state", async () => {
  const server = new FakeServer();
  const random = seededRandom(1);
  const transport = inProcessTransport(server.handle);
  const client = createClient({ transport, clock: realClock, random, flow: 'none' });
  const lastSeen = new Map<string, string>();
  let reconciles = 0;
  const slow = defineController<Thing>({
    name: 'slow',
    for: Thing,
    concurrency: 2,
    async reconcile(ctx) {
      reconciles++;
      // Takes many times as long as a request.
      for (let i = 0; i < 20; i++) await nextTurn();
      lastSeen.set(ctx.key.name, ctx.cache.get(Thing, ctx.key)!.metadata.resourceVersion!);
      return settled();
    },
  });
  const manager = new Manager({
    clock: realClock,
    random,
    client,
    controllers: [slow as ControllerDefinition],
  });
  manager.start();
  await nextTurn();
  let longestLag = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < OBJECTS; i++) server.put(`x${i}`, { round });
    for (let i = 0; i < 20; i++) await nextTurn();
    const version = manager.controllers[0]!.handles[0]!.isBehind(String(server.revision));
    if (version) longestLag++;
  }
  while (manager.controllers[0]!.queue.ready > 0 || manager.controllers[0]!.busy > 0) await nextTurn();
  const truth = new Map([...server.objects].map(([name, { metadata }]) => [name, metadata.resourceVersion!]));
  expect(lastSeen).toEqual(truth);
  expect(longestLag).toBe(0);
  expect(reconciles).toBeLessThan(OBJECTS * ROUNDS);
  expect(server.requests).toHaveLength(1);
  await manager.stop();
});
