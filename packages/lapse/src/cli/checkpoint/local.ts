// The read API in the process of its API server: `lapse up` has neither Pods nor certificates. The API server calls a
// function instead of a Service. No other client can call it, so the user headers are trusted.

import type { LocalService } from '@lapse/apiserver/aggregation/localOutbound';
import type { Clock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import { reviewingAuthorizer } from '@lapse/runtime/aggregated/access';
import { aggregatedHandler } from '@lapse/runtime/aggregated/aggregated';
import { buildReadApi } from './apiService.ts';
import { manifestsApi, type ReadApiOptions } from './readApi.ts';

const PLACE = { name: 'lapse', namespace: 'kube-system', selector: {}, targetPort: 443 } as const;

/** The Service name that the API server calls. */
export const LOCAL_READ_API = `lapse-api.${PLACE.namespace}.svc`;

const FRONT_PROXY = {
  authority: '',
  allowedNames: [],
  userHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
} as const;

export interface LocalReadApiOptions extends Omit<ReadApiOptions, 'client'> {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
}

export function localReadApi({ client, clock, log, ...options }: LocalReadApiOptions): LocalService {
  const handle = aggregatedHandler({
    api: manifestsApi({ ...options, client }),
    frontProxy: () => FRONT_PROXY,
    authorize: reviewingAuthorizer(client, clock),
    log,
  });
  return (request, headers) =>
    handle(request, {
      verified: true,
      headers: (name) => (Object.hasOwn(headers, name) ? (headers[name] ?? []) : []),
      headerNames: () => Object.keys(headers),
    });
}

const kindOf = (group: string, kind: string, resource: string, namespaced: boolean) =>
  defineKind<KubeObject>({ group, version: 'v1', kind, resource, namespaced });
const ApiService = kindOf('apiregistration.k8s.io', 'APIService', 'apiservices', false);
const Service = kindOf('', 'Service', 'services', true);

/** Registers the API. If it is not served, removes the registration of an earlier run. */
export async function registerLocalReadApi(client: Client, isServed: boolean): Promise<void> {
  const [service, apiService] = buildReadApi(PLACE) as [KubeObject, KubeObject];
  const { name = '', namespace } = service.metadata;
  if (!isServed) {
    await client.delete(ApiService, { name: apiService.metadata.name! });
    await client.delete(Service, { namespace: namespace!, name });
    return;
  }
  const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port: 443 }] };
  objectOf(await client.apply(Service, { ...service, spec }, { force: true }));
  objectOf(await client.apply(ApiService, apiService, { force: true }));
}
