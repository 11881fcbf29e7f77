// The embedded API server: `handle` is the whole of it. Sockets are a thin adapter (listen.ts); in process a client
// calls `handle` directly, on a virtual clock if it likes.

import { type Clock, realClock } from '@lapse/base/clock';
import { seconds } from '@lapse/base/instant';
import { type Random, systemRandom } from '@lapse/base/random';
import type { HttpHandler, HttpRequest } from '@lapse/kube/api/http';
import type { KubeObject } from '@lapse/kube/api/object';
import { AccountTokens } from './access/accountTokens.ts';
import { alwaysAllow, Rbac } from './access/authorizer.ts';
import { bearers } from './access/bearer.ts';
import { bootstrapRoles } from './access/defaultRoles.ts';
import { Admission, type AdmissionFunction } from './admission/admission.ts';
import { noOutbound, type Outbound } from './admission/webhooks/outbound.ts';
import { Aggregator } from './aggregation/aggregator.ts';
import { type FrontProxy, publishFrontProxy, publishReader } from './aggregation/frontProxy.ts';
import type { Authenticator } from './authn/auth.ts';
import { bootstrap } from './bootstrap.ts';
import type { Core } from './context.ts';
import { DefinitionController } from './crd/controller.ts';
import { ApiServices } from './discovery/apiServices.ts';
import { handle } from './http/handle.ts';
import { Health } from './http/health.ts';
import { InFlight } from './http/inFlight.ts';
import { importObject } from './importing.ts';
import { Metrics } from './metrics/metrics.ts';
import { registerBuiltins } from './resources/builtin.ts';
import { Registry } from './resources/registry.ts';
import { Store } from './store/store.ts';
import { WatchHub } from './watch/watchHub.ts';

export interface ServerOptions {
  /** Default: in memory. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Absent: whoever calls `handle` is the administrator (in process only). */
  readonly authenticator?: Authenticator;
  /** Unset: whoever is known may do everything. */
  readonly authorization?: 'AlwaysAllow' | 'RBAC';
  /** Signs the tokens of service accounts; unset: they are worth nothing after a restart. */
  readonly tokenKey?: Uint8Array;
  /** How webhooks and aggregated APIs are called; unset: they are not, and writes they guard fail. */
  readonly outbound?: Outbound;
  /** How servers of aggregated APIs know this one; unset: only those in this process can. */
  readonly frontProxy?: FrontProxy;
  readonly onUnexpected?: (cause: unknown, request: HttpRequest) => void;
}

export interface ApiServer {
  readonly handle: HttpHandler;
  /** Lets a function have its say on writes; returns the way to take it back. */
  readonly admit: (fn: AdmissionFunction) => () => void;
  /** Events handed to watchers and not read yet: 0 means every watcher has seen everything. */
  readonly undelivered: () => number;
  /** Forgets history, as a compaction of etcd does. */
  readonly compact: () => void;
  readonly revision: () => number;
  /** Puts an object there as another server had it; false when its kind is not served. For simulations. */
  readonly importObject: (object: KubeObject) => Promise<boolean>;
  /** Ends all watches, lets requests in flight end, and closes the store. */
  readonly close: () => Promise<void>;
}

// As long as webhooks may take, and a little more.
const DRAIN = seconds(15);

export async function createServer(options: ServerOptions = {}): Promise<ApiServer> {
  const clock = options.clock ?? realClock;
  const random = options.random ?? systemRandom;
  const store = options.store ?? Store.inMemory(clock);
  const registry = new Registry();
  registerBuiltins(registry);
  const tokens = new AccountTokens({ clock, random, store, key: options.tokenKey ?? random.bytes(32) });
  // In process and without users everybody is the administrator; otherwise service accounts are users, too.
  const authenticator = options.authenticator && bearers(options.authenticator, tokens);
  const outbound = options.outbound ?? noOutbound;
  const core: Core = {
    store,
    clock,
    random,
    registry,
    admission: new Admission(),
    hub: new WatchHub(store),
    health: new Health(),
    metrics: new Metrics(),
    authenticator,
    authorizer: options.authorization === 'RBAC' ? new Rbac(store) : alwaysAllow,
    tokens,
    aggregator: new Aggregator({ store, outbound, certificate: options.frontProxy?.certificate }, clock),
    outbound,
  };
  await bootstrap(core);
  if (core.authorizer.mode === 'RBAC') {
    await bootstrapRoles(core);
    await publishReader(core);
  }
  if (options.frontProxy) await publishFrontProxy(core, options.frontProxy);
  const apiServices = new ApiServices(core);
  await apiServices.start();
  core.aggregator.start();
  const definitions = new DefinitionController(core);
  definitions.start();
  const handling = {
    authenticator,
    onUnexpected: options.onUnexpected ?? (() => {}),
  };
  const inFlight = new InFlight();
  return {
    handle: async (request) => {
      inFlight.enter();
      try {
        return await handle(core, handling, request);
      } finally {
        inFlight.leave();
      }
    },
    admit: (fn) => core.admission.register(fn),
    undelivered: () => core.hub.undelivered,
    compact: () => store.compact(),
    revision: () => store.revision,
    importObject: (object) => importObject(core, object),
    close: async () => {
      core.health.stop();
      core.hub.closeAll();
      await inFlight.drained(DRAIN);
      core.hub.closeAll();
      await core.aggregator.stop();
      await apiServices.stop();
      await definitions.stop();
      await store.close();
    },
  };
}
