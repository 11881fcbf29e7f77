// Serves an aggregated API on a socket. Requests the front proxy's client certificate and follows the authority that the
// cluster publishes.

import type { Cancel, Clock } from '@lapse/base/clock';
import { minutes } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import { wakeAfter } from '@lapse/base/monotonic';
import type { Client } from '@lapse/kube/client/client';
import type { Certificate } from '../host/certificate.ts';
import { type Host, listen } from '../host/listen.ts';
import { requireSafeResumption } from '../host/resumption.ts';
import { asError } from '../outcome.ts';
import { reviewingAuthorizer } from './access.ts';
import { aggregatedHandler, requireFrontProxy } from './aggregated.ts';
import type { AggregatedApi } from './api.ts';
import { type FrontProxy, readFrontProxy } from './requestHeader.ts';

export interface AggregatedHostOptions {
  readonly api: AggregatedApi;
  /** Reads the published authority and creates SubjectAccessReviews. */
  readonly client: Client;
  readonly certificate: Certificate;
  readonly clock: Clock;
  readonly log: Log;
  readonly address?: string;
  readonly port: number;
  /** For tests; default: a self-test of the running Node version. */
  readonly trustsResumedSessions?: Parameters<typeof requireSafeResumption>[1];
}

/** Maximum number of requests in flight. The kube-apiserver forwards the requests of all users. */
const MAX_IN_FLIGHT = 128;
const CHECK_INTERVAL = minutes(1);

/** Throws if the cluster publishes no front proxy, or if this Node version cannot authenticate it. */
export async function openAggregatedHost(options: AggregatedHostOptions): Promise<Host> {
  const { api, client, certificate, clock, log, address, port } = options;
  await requireSafeResumption(certificate.current(), options.trustsResumedSessions);
  const proxy = await followFrontProxy(options);
  const handle = aggregatedHandler({
    api,
    log,
    frontProxy: proxy.current,
    authorize: reviewingAuthorizer(client, clock),
  });
  const clientAuthority = { current: () => proxy.current().authority, onChange: proxy.onChange };
  const onError = (error: unknown) =>
    log.warn({ error: asError(error) }, 'an aggregated request was cut off');
  const host = await listen({
    handle,
    refuse: requireFrontProxy(proxy.current),
    certificate,
    clientAuthority,
    maxInFlight: MAX_IN_FLIGHT,
    onError,
    port,
    ...(address === undefined ? {} : { address }),
  }).catch((cause: unknown) => {
    proxy.close();
    throw cause;
  });
  return {
    port: host.port,
    close: () => {
      proxy.close();
      return host.close();
    },
  };
}

/** Follows the published configuration. If it cannot be read, the previous one is kept. */
async function followFrontProxy({ client, clock, log }: AggregatedHostOptions) {
  let current: FrontProxy = await readFrontProxy(client);
  let cancel: Cancel | undefined;
  let closed = false;
  const listeners = new Set<() => void>();
  async function check(): Promise<void> {
    try {
      const next = await readFrontProxy(client);
      const factsChanged = next.authority !== current.authority;
      current = next;
      if (factsChanged) for (const listener of listeners) listener();
    } catch (error) {
      log.warn({ error: asError(error) }, 'the authority of the front proxy cannot be read');
    }
  }
  const arm = () => {
    if (!closed) cancel = wakeAfter(clock, CHECK_INTERVAL, () => void check().then(arm));
  };
  arm();
  return {
    current: () => current,
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      cancel?.();
    },
  };
}
