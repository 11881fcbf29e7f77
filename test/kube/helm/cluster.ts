// The Cleaner family against a real API server, composed as the command does, for one test file.

import { readFileSync } from 'node:fs';
import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { bearer, fixedCredentials, impersonating } from '@lapse/kube/client/credentials';
import { createSkew } from '@lapse/kube/client/skew';
import type { Transport } from '@lapse/kube/client/transport';
import { undiciTransport } from '@lapse/kube/client/undici';
import { EventSender } from '@lapse/runtime/events/outbox';
import { SOCKET_LIVENESS } from '@lapse/runtime/liveness';
import { Manager } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import { cleanerFamily } from 'lapse/controllers/cleaner/family';
import type { Services } from 'lapse/controllers/family';
import { createSkewGuard } from 'lapse/deletion/skewGuard';
import { compileConfiguration } from 'lapse/manager/configuration/schema';
import { applyCrds } from 'lapse/manager/crds';
import { vi } from 'vitest';
import type { Bed } from '../bed/bed.ts';

export interface Cluster {
  readonly bed: Bed;
  /** Client of the admin. */
  readonly client: Client;
  /** Starts Lapse's Cleaner; the returned function stops it. */
  start(options?: { actAs?: 'author' | 'controller'; cleaner?: JsonObject }): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function openCluster(bed: Bed): Promise<Cluster> {
  const transport = undiciTransport({
    server: bed.url,
    clock: realClock,
    tls: { ca: readFileSync(bed.caFile, 'utf8') },
  });
  const credentials = fixedCredentials({ headers: bearer(bed.adminToken) });
  const client = createClient({ transport, credentials, clock: realClock, random: systemRandom });
  await applyCrds(client, realClock, cleanerFamily.kinds);
  return {
    bed,
    client,
    start: (options = {}) => start(transport, bed, options),
    close: async () => {
      await transport.close();
    },
  };
}

async function start(
  transport: Transport,
  bed: Bed,
  { actAs = 'controller', cleaner = {} }: { actAs?: 'author' | 'controller'; cleaner?: JsonObject },
): Promise<() => Promise<void>> {
  const [clock, random, log, registry] = [realClock, systemRandom, silentLog, new Registry()];
  const skew = createSkew(clock);
  const credentials = fixedCredentials({ headers: bearer(bed.adminToken) });
  const common = { transport, clock, random, observe: skew.observe };
  const client = createClient({ ...common, credentials });
  const services: Services = {
    clock,
    random,
    log,
    registry,
    client,
    guard: createSkewGuard({ clock, skew, raw: client.raw, registry }),
    impersonate: ({ namespace, name }) => {
      const user = `system:serviceaccount:${namespace}:${name}`;
      return createClient({ ...common, credentials: impersonating(credentials, { user }) });
    },
    actAs,
    isEnabled: () => true,
  };
  const { document } = compileConfiguration([cleanerFamily]).complete({
    cleaner: { impersonation: 'cluster', ...cleaner },
  });
  const { controllers } = cleanerFamily.create(services, { cleaner: document.cleaner as JsonObject });
  const manager = new Manager({
    clock,
    random,
    log,
    registry,
    client,
    controllers,
    time: services.guard,
    liveness: SOCKET_LIVENESS,
    events: new EventSender({ client, clock, random, log, registry, instance: 'test' }),
  });
  manager.start();
  return async () => {
    await manager.stop();
  };
}

/** Creates objects of any served kind. */
export async function create(client: Client, ...objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const slash = object.apiVersion.indexOf('/');
    const group = slash < 0 ? '' : object.apiVersion.slice(0, slash);
    // An API server lists a new kind a moment after its CRD is established.
    const kind = await vi.waitFor(() => findKind(client, group, object.kind), SOON);
    objectOf(await client.create(kind, object));
  }
}

const SOON = { timeout: 20_000, interval: 100 };

async function findKind(client: Client, group: string, name: string): Promise<Kind> {
  const kind = await client.discovery.find({ group, kind: name });
  if (kind !== undefined) return kind;
  client.discovery.invalidate();
  throw new Error(`${name} of ${group} is not served`);
}
