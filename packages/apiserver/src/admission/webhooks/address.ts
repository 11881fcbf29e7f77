// The address of a webhook: a URL or a Service.

import type { JsonObject } from '@lapse/kube/api/json';
import { resolveService } from '../../aggregation/resolve.ts';
import type { Store } from '../../store/store.ts';
import { number, part, text } from '../../strategies/values.ts';
import type { OutboundRequest } from './outbound.ts';

export type Address = Pick<OutboundRequest, 'url' | 'ca' | 'serverName'>;

/** Throws when the Service cannot be resolved; the message is shown to clients. */
export function addressOf(store: Store, config: JsonObject): Address {
  const bundle = text(config, 'caBundle');
  const ca = bundle === '' ? {} : { ca: Buffer.from(bundle, 'base64').toString('utf8') };
  const url = text(config, 'url');
  if (url !== '') return { url, ...ca };
  return { ...serviceAddress(store, part(config, 'service')), ...ca };
}

const HTTPS = 443;

function serviceAddress(store: Store, service: JsonObject): Address {
  const [namespace, name, path] = [text(service, 'namespace'), text(service, 'name'), text(service, 'path')];
  const port = number(service, 'port') ?? HTTPS;
  const found = resolveService(store, { namespace, name, port });
  if (found.kind === 'missing') throw new Error(explain(found.reason, name, port));
  const tail = path.startsWith('/') || path === '' ? path : `/${path}`;
  return { url: `https://${found.host}:${found.port}${tail}`, serverName: `${name}.${namespace}.svc` };
}

function explain(reason: string, name: string, port: number): string {
  const quoted = JSON.stringify(name);
  switch (reason) {
    case 'ServiceNotFound':
      return `service ${quoted} not found`;
    case 'ServicePortError':
      return `no service port ${port} found for service ${quoted}`;
    default:
      return `no endpoints available for service ${quoted}`;
  }
}
