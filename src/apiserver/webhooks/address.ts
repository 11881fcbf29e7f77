// Where a webhook or an aggregated API is: a URL, or a Service. There is no network of Services here: one of type
// ExternalName leads to its host, others to the first address of their Endpoints.

import { isObject, type Json, type JsonObject } from '#api/json';
import type { Store } from '../store/store.ts';
import type { OutboundRequest } from './outbound.ts';

export type Address = Pick<OutboundRequest, 'url' | 'ca' | 'serverName' | 'insecure'>;

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export function addressOf(store: Store, config: JsonObject): Address {
  const bundle = text(config['caBundle']);
  const ca = bundle === '' ? {} : { ca: Buffer.from(bundle, 'base64').toString('utf8') };
  const url = text(config['url']);
  if (url !== '') return { url, ...ca };
  const service = isObject(config['service']) ? config['service'] : {};
  return { ...serviceAddress(store, service, text(service['path'])), ...ca };
}

export function serviceAddress(store: Store, service: JsonObject, path: string): Address {
  const [namespace, name] = [text(service['namespace']), text(service['name'])];
  const port = typeof service['port'] === 'number' ? service['port'] : 443;
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
  const spec = isObject(service['spec']) ? service['spec'] : {};
  const ports = (Array.isArray(spec['ports']) ? spec['ports'] : []).filter(isObject);
  const found = ports.find((candidate) => candidate['port'] === port);
  const target = found?.['targetPort'];
  if (spec['type'] === 'ExternalName')
    return { host: text(spec['externalName']), targetPort: typeof target === 'number' ? target : port };
  const endpoints = store.get('endpoints', `${namespace}/${name}`)?.object;
  const subsets = endpoints?.['subsets'];
  for (const subset of (Array.isArray(subsets) ? subsets : []).filter(isObject)) {
    const [address] = (Array.isArray(subset['addresses']) ? subset['addresses'] : []).filter(isObject);
    const [own] = (Array.isArray(subset['ports']) ? subset['ports'] : []).filter(isObject);
    if (address !== undefined && typeof own?.['port'] === 'number')
      return { host: text(address['ip']), targetPort: own['port'] };
  }
  throw new Error(`no endpoints available for service "${name}"`);
}
