// Resolves the address of a Service. There is no Service network here: ExternalName resolves to its host, other types
// to the first ready address of their Endpoints or EndpointSlices. Errors have the messages of kube-apiserver.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Store } from '../store/store.ts';
import { flag, number, objects, part, text, texts } from '../strategies/values.ts';
import type { ServiceReference } from './registration.ts';

const SLICES = 'endpointslices.discovery.k8s.io';
const SERVICE_LABEL = 'kubernetes.io/service-name';

export type Resolved =
  | { readonly kind: 'found'; readonly host: string; readonly port: number }
  | { readonly kind: 'missing'; readonly reason: string; readonly message: string };

interface Endpoint {
  readonly host: string;
  readonly ports: readonly JsonObject[];
}

export function resolveService(store: Store, reference: ServiceReference): Resolved {
  const { namespace, name, port } = reference;
  const what = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = store.get('services', `${namespace}/${name}`)?.object;
  if (service === undefined) return missing('ServiceNotFound', `${what} is not present`);
  const spec = part(service, 'spec');
  const listed = objects(spec, 'ports').find((candidate) => candidate['port'] === port);
  if (text(spec, 'type') === 'ExternalName') return { kind: 'found', host: text(spec, 'externalName'), port };
  if (listed === undefined) return missing('ServicePortError', `${what} is not listening on port ${port}`);
  const endpoints = endpointsOf(store, reference);
  if (endpoints === undefined) return missing('EndpointsNotFound', `cannot find endpointslices for ${what}`);
  const portName = text(listed, 'name');
  for (const { host, ports } of endpoints) {
    const target = ports.find((candidate) => text(candidate, 'name') === portName);
    const number_ = number(target, 'port');
    if (number_ !== undefined) return { kind: 'found', host, port: number_ };
  }
  const named = `with port name ${JSON.stringify(portName)}`;
  return missing('MissingEndpoints', `endpointslices for ${what} have no addresses ${named}`);
}

const missing = (reason: string, message: string): Resolved => ({ kind: 'missing', reason, message });

/** The ready endpoints; undefined when there are no Endpoints and EndpointSlices at all. */
function endpointsOf(store: Store, { namespace, name }: ServiceReference): Endpoint[] | undefined {
  const slices = [...store.view(SLICES)!.entries(`${namespace}/`)]
    .map(({ object }) => object)
    .filter(({ metadata }) => metadata.labels?.[SERVICE_LABEL] === name);
  const endpoints = store.get('endpoints', `${namespace}/${name}`)?.object;
  if (endpoints === undefined && slices.length === 0) return undefined;
  return [
    ...objects(endpoints, 'subsets').flatMap((subset) =>
      objects(subset, 'addresses').map((address) => ({
        host: text(address, 'ip'),
        ports: objects(subset, 'ports'),
      })),
    ),
    ...slices.flatMap((slice) =>
      objects(slice, 'endpoints')
        .filter((endpoint) => flag(part(endpoint, 'conditions'), 'ready') !== false)
        .flatMap((endpoint) => texts(endpoint, 'addresses').slice(0, 1))
        .map((host) => ({ host, ports: objects(slice, 'ports') })),
    ),
  ];
}
