// The embedded API server. `handle` answers every request; listen.ts is a thin adapter for sockets. A client in the
// same process calls `handle` directly, optionally on a virtual clock.

import { type Clock, realClock } from '@lapse/base/clock';
import { seconds } from '@lapse/base/instant';
import { type Random, systemRandom } from '@lapse/base/random';
import type { HttpHandler, HttpRequest } from '@lapse/kube/api/http';
import type { KubeObject } from '@lapse/kube/api/object';
import { AccountTokens } from './access/accountTokens.ts';
import { alwaysAllow, Rbac } from './access/authorizer.ts';
import { bearers } from './access/bearer.ts';
import { bootstrapRoles } from './access/defaultRoles.ts';
import { AdmissionChain, type AdmissionFunction } from './admission/admission.ts';
import { noOutbound, type Outbound } from './admission/webhooks/outbound.ts';
import { Aggregator } from './aggregation/aggregator.ts';
import { type FrontProxy, publishFrontProxy } from './aggregation/frontProxy.ts';
import type { Authenticator } from './authn/auth.ts';
import { bootstrap } from './bootstrap.ts';
import type { Core } from './context.ts';
import { CrdController } from './crd/controller.ts';
import { ApiServices } from './discovery/apiServices.ts';
import { handle } from './http/handle.ts';
import { InFlight } from './http/inFlight.ts';
import { importObject } from './importObject.ts';
import { type Advertised, KubernetesService } from './kubernetesService.ts';
import { RequestMetrics } from './metrics/requests.ts';
import { registerBuiltins } from './resources/builtin.ts';
import { Registry } from './resources/registry.ts';
import { Store } from './store/store.ts';
import { WatchHub } from './watch/watchHub.ts';

export interface ServerOptions {
  /** Default: in memory. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: every caller of `handle` is the administrator (in process only). */
  readonly authenticator?: Authenticator;
  /** Default: AlwaysAllow; every authenticated user may do everything. */
  readonly authorization?: 'AlwaysAllow' | 'RBAC';
  /** Signs service account tokens. Default: a random key, so tokens become invalid after a restart. */
  readonly tokenKey?: Uint8Array;
  /** Calls webhooks and aggregated APIs. Default: no calls; writes that need a webhook fail. */
  readonly outbound?: Outbound;
  /** How aggregated API servers authenticate this server. Default: only those in this process can. */
  readonly frontProxy?: FrontProxy;
  readonly onUnexpected?: (cause: unknown, request: HttpRequest) => void;
}

export interface ApiServer {
  readonly handle: HttpHandler;
  /** Registers an in-process admission function; returns a function that unregisters it. */
  readonly admit: (fn: AdmissionFunction) => () => void;
  /** Events sent to watchers and not read yet. 0 means that every watcher has read everything. */
  readonly undelivered: () => number;
  /** Discards history, like an etcd compaction. */
  readonly compact: () => void;
  readonly revision: () => number;
  /** Stores an object as exported from another server; returns false when its kind is not served. For simulations. */
  readonly importObject: (object: KubeObject) => Promise<boolean>;
  /** Publishes where clients reach the server, as Service `default/kubernetes`. Call once, after `listen`. */
  readonly advertise: (advertised: Advertised) => Promise<void>;
  /** Ends all watches, waits for requests in flight, and closes the store. */
  readonly close: () => Promise<void>;
}

// Slightly longer than the webhook timeout.
const DRAIN = seconds(15);

export async function createServer(options: ServerOptions = {}): Promise<ApiServer> {
  let stopping = false;
  const admission = new AdmissionChain();
  const core = assemble(options, admission, () => stopping);
  const { store, authenticator } = core;
  await bootstrap(core);
  if (core.authorizer.mode === 'RBAC') await bootstrapRoles(core);
  if (options.frontProxy) await publishFrontProxy(core, options.frontProxy);
  const apiServices = new ApiServices(core);
  await apiServices.start();
  core.aggregator.start();
  const crdController = new CrdController(core);
  crdController.start();
  const handling = {
    authenticator,
    onUnexpected: options.onUnexpected ?? (() => {}),
  };
  const inFlight = new InFlight();
  let ownService: KubernetesService | undefined;
  return {
    handle: async (request) => {
      inFlight.enter();
      try {
        return await handle(core, handling, request);
      } finally {
        inFlight.leave();
      }
    },
    admit: (fn) => admission.register(fn),
    undelivered: () => core.hub.undelivered,
    compact: () => store.compact(),
    revision: () => store.revision,
    advertise: (advertised) => {
      ownService = new KubernetesService(core, advertised);
      return ownService.start();
    },
    importObject: (object) => importObject(core, object),
    close: async () => {
      stopping = true;
      core.hub.closeAll();
      await inFlight.drained(DRAIN);
      core.hub.closeAll();
      await ownService?.stop();
      await core.aggregator.stop();
      await apiServices.stop();
      await crdController.stop();
      await store.close();
    },
  };
}

/** The components of the server, before anything is stored. */
function assemble(options: ServerOptions, admission: AdmissionChain, isStopping: () => boolean): Core {
  const clock = options.clock ?? realClock;
  const random = options.random ?? systemRandom;
  const store = options.store ?? Store.inMemory(clock);
  const registry = new Registry();
  registerBuiltins(registry);
  const tokens = new AccountTokens({ clock, random, store, key: options.tokenKey ?? random.bytes(32) });
  const outbound = options.outbound ?? noOutbound;
  return {
    store,
    clock,
    random,
    registry,
    admission,
    hub: new WatchHub(store),
    metrics: new RequestMetrics(),
    isStopping,
    // In process and without an authenticator, every caller is the administrator. Otherwise service accounts are
    // users, too.
    authenticator: options.authenticator && bearers(options.authenticator, tokens),
    authorizer: options.authorization === 'RBAC' ? new Rbac(store) : alwaysAllow,
    tokens,
    aggregator: new Aggregator({ store, outbound, certificate: options.frontProxy?.certificate }, clock),
    outbound,
  };
}
