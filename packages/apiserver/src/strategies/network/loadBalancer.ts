// Validation of status.loadBalancer: only Services of that type have it.

import { parseSloppyAddress } from '@lapse/base/ipAddress';
import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { specOf, statusOf } from '../../resources/resource.ts';
import { legacyAddress } from '../addresses.ts';
import { dnsSubdomain, oneOf } from '../checks.ts';
import { has, objects, part, text } from '../values.ts';

export function validateBalancerStatus(service: KubeObject): FieldError[] {
  const points = objects(part(statusOf(service), 'loadBalancer'), 'ingress');
  const path = 'status.loadBalancer.ingress';
  if (points.length > 0 && text(specOf(service), 'type') !== 'LoadBalancer')
    return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  return points.flatMap((point, i) => [
    ...addressErrors(point, `${path}[${i}]`),
    ...hostErrors(text(point, 'hostname'), `${path}[${i}].hostname`),
  ]);
}

function addressErrors(point: JsonObject, path: string): FieldError[] {
  const ip = text(point, 'ip');
  const mode = `${path}.ipMode`;
  if (ip === '')
    return has(point, 'ipMode') ? [forbidden(mode, 'may not be specified when `ip` is not set')] : [];
  return [
    ...legacyAddress(ip, `${path}.ip`),
    ...(has(point, 'ipMode')
      ? oneOf(text(point, 'ipMode'), ['Proxy', 'VIP'], mode)
      : [required(mode, 'must be specified when `ip` is set')]),
  ];
}

function hostErrors(host: string, path: string): FieldError[] {
  if (host === '') return [];
  const address = parseSloppyAddress(host) !== undefined;
  return [
    ...dnsSubdomain(host, path),
    ...(address ? [invalid(path, host, 'must be a DNS name, not an IP address')] : []),
  ];
}
