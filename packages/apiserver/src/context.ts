// Types passed to every verb: the components of the server (`Core`) and one request (`Call`).

import type { Clock } from '@lapse/base/clock';
import type { Random } from '@lapse/base/random';
import type { HttpRequest } from '@lapse/kube/api/http';
import type { KubeObject } from '@lapse/kube/api/object';
import type { AccountTokens } from './access/accountTokens.ts';
import type { Authorizer } from './access/authorizer.ts';
import type { Bearers } from './access/bearer.ts';
import type { Outbound } from './admission/webhooks/outbound.ts';
import type { Write } from './admission/write.ts';
import type { Aggregator } from './aggregation/aggregator.ts';
import type { Negotiated } from './http/negotiate.ts';
import type { Query } from './http/query.ts';
import type { RequestMetrics } from './metrics/requests.ts';
import type { Registry } from './resources/registry.ts';
import type { Resource, StrategyContext, UserInfo } from './resources/resource.ts';
import type { Store } from './store/store.ts';
import type { WatchHub } from './watch/watchHub.ts';

export interface Core {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly admission: Admission;
  readonly hub: WatchHub;
  readonly metrics: RequestMetrics;
  /** True while the server shuts down: it is live but not ready. */
  readonly isStopping: () => boolean;
  /** Undefined when every caller is the administrator (in process). */
  readonly authenticator: Bearers | undefined;
  readonly authorizer: Authorizer;
  readonly tokens: AccountTokens;
  /** Group versions served by aggregated API servers. */
  readonly aggregator: Aggregator;
  /** Client for webhooks and aggregated APIs. */
  readonly outbound: Outbound;
}

export interface Admission {
  /** The object after the mutating functions. Throws when one of them denies the write. */
  mutate(call: Call, write: Write): Promise<KubeObject | undefined>;
  /** Throws when a policy, function or webhook denies the write. */
  validate(call: Call, write: Write): Promise<void>;
}

export interface Call {
  readonly core: Core;
  readonly request: HttpRequest;
  readonly query: Query;
  readonly user: UserInfo;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly negotiated: Negotiated;
  /** Sent as Warning headers. */
  readonly warnings: string[];
}

/** The namespace of a write for authorization and admission. A Namespace is in the namespace of its own name. */
export const namespaceOf = ({ namespace, resource }: Call, name: string): string =>
  namespace ?? (resource.storage === 'namespaces' ? name : '');

/** True when the write deletes one object of a collection, so the request itself names no object. */
export const isOfCollection = ({ name }: Call, { operation }: { readonly operation: string }): boolean =>
  operation === 'DELETE' && name === undefined;

export function strategyContext(call: Call, dryRun: boolean): StrategyContext {
  return {
    now: call.core.clock.now(),
    random: call.core.random,
    user: call.user,
    isAllowed: (verb, group, resource, name) => {
      const attributes = { verb, group, resource, subresource: '', name, namespace: '' };
      return call.core.authorizer.authorize(call.user, attributes).allowed;
    },
    get: (resource, key) => call.core.store.get(resource, key)?.object,
    list: function* (resource) {
      for (const stored of call.core.store.heads(resource)) yield stored.object;
    },
    warn: (text) => {
      if (!call.warnings.includes(text)) call.warnings.push(text);
    },
    dryRun,
  };
}
