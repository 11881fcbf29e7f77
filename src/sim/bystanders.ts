// The stand-ins: ordinary controllers in a manager of their own, on the server's clock, without faults. They never crash,
// and what they write is not counted as the process's.

import type { HttpHandler } from '#api/http';
import type { Clock } from '#base/clock';
import { silentLog } from '#base/log';
import type { Random } from '#base/random';
import { createClient } from '#client/client';
import { inProcessTransport } from '#client/inProcess';
import type { ControllerDefinition } from '#runtime/definition';
import { EventSender } from '#runtime/events/outbox';
import { countInFlight } from '#runtime/inFlight';
import { Manager } from '#runtime/manager';
import { Registry } from '#runtime/metrics/registry';
import { lasting } from './lasting.ts';

export function createBystanders(
  controllers: readonly ControllerDefinition[],
  { handler, clock, random }: { handler: HttpHandler; clock: Clock; random: Random },
): Manager | undefined {
  if (controllers.length === 0) return undefined;
  const counted = countInFlight(inProcessTransport(lasting(handler)));
  const client = createClient({
    transport: counted.transport,
    clock,
    random,
    flow: 'none',
    fieldManager: 'stand-ins',
  });
  const registry = new Registry();
  return new Manager({
    clock,
    random,
    client,
    registry,
    controllers,
    events: new EventSender({ client, clock, random, registry, log: silentLog, instance: 'stand-ins' }),
    listBy: 'pages',
    bookmarks: false,
    freeze: true,
    inFlight: counted.inFlight,
  });
}
