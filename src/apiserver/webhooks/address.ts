// Where a webhook or an aggregated API is: a URL, or a Service. There is no network of Services here: one of type
// ExternalName leads to its host, others to the first address of their Endpoints.

import type { JsonObject } from '#api/json';
import type { Store } from '../store/store.ts';
import { number, objects, part, text } from '../strategies/values.ts';
import type { OutboundRequest } from './outbound.ts';

export type Address = Pick<OutboundRequest, 'url' | 'ca' | 'serverName' | 'insecure'>;

export function addressOf(store: Store, config: JsonObject): Address {
  const bundle = text(config, 'caBundle');
  const ca = bundle === '' ? {} : { ca: Buffer.from(bundle, 'base64').toString('utf8') };
  const url = text(config, 'url');
  if (url !== '') return { url, ...ca };
  const service = part(config, 'service');
  return { ...serviceAddress(store, service, text(service, 'path')), ...ca };
}

export function serviceAddress(store: Store, service: JsonObject, path: string): Address {
  const [namespace, name] = [text(service, 'namespace'), text(service, 'name')];
  const port = number(service, 'port') ?? 443;
  const { host, targetPort } = endpointOf(store, namespace, name, port);
  const tail = path.startsWith('/') || path === '' ? path : `/${path}`;
  return { url: `https://${host}:${targetPort}${tail}`, serverName: `${name}.${namespace}.svc` };
}

function endpointOf(
  store: Store,
  namespace: string,
  name: string,
  port: number,
): { host: string; targetPort: number } {
  const service = store.get('services', `${namespace}/${name}`)?.object;
  if (service === undefined) throw new Error(`service "${name}" not found`);
  const spec = part(service, 'spec');
  const found = objects(spec, 'ports').find((candidate) => candidate['port'] === port);
  if (text(spec, 'type') === 'ExternalName')
    return { host: text(spec, 'externalName'), targetPort: number(found, 'targetPort') ?? port };
  const endpoints = store.get('endpoints', `${namespace}/${name}`)?.object;
  for (const subset of objects(endpoints, 'subsets')) {
    const [address] = objects(subset, 'addresses');
    const targetPort = number(objects(subset, 'ports')[0], 'port');
    if (address !== undefined && targetPort !== undefined) return { host: text(address, 'ip'), targetPort };
  }
  throw new Error(`no endpoints available for service "${name}"`);
}
