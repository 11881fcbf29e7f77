// Strategy of Endpoints (deprecated): addresses and ports of every subset.

import { type FieldError, required } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { endpointAddress, legacyAddress } from '../addresses.ts';
import { dnsLabel, dnsSubdomain, metaOf, metaUpdate, oneOf, portNumber, qualifiedName } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { has, number, objects, text, value } from '../values.ts';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

const validate = (endpoints: KubeObject): FieldError[] =>
  objects(endpoints, 'subsets').flatMap((subset, i) => validateSubset(subset, `subsets[${i}]`));

function validateSubset(subset: JsonObject, path: string): FieldError[] {
  const ready = objects(subset, 'addresses');
  const notReady = objects(subset, 'notReadyAddresses');
  const ports = objects(subset, 'ports');
  const none =
    ready.length + notReady.length === 0
      ? [required(path, 'must specify `addresses` or `notReadyAddresses`')]
      : [];
  return [
    ...none,
    ...ready.flatMap((a, i) => validateAddress(a, `${path}.addresses[${i}]`)),
    ...notReady.flatMap((a, i) => validateAddress(a, `${path}.notReadyAddresses[${i}]`)),
    ...ports.flatMap((p, i) => validatePort(p, ports.length > 1, `${path}.ports[${i}]`)),
  ];
}

function validateAddress(address: JsonObject, path: string): FieldError[] {
  const ip = text(address, 'ip');
  const hostname = text(address, 'hostname');
  return [
    ...legacyAddress(ip, `${path}.ip`),
    ...(hostname === '' ? [] : dnsLabel(hostname, `${path}.hostname`)),
    ...(has(address, 'nodeName') ? dnsSubdomain(text(address, 'nodeName'), `${path}.nodeName`) : []),
    ...endpointAddress(ip, `${path}.ip`),
  ];
}

function validatePort(port: JsonObject, named: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = text(port, 'name');
  if (named && name === '') errors.push(required(`${path}.name`));
  else if (name !== '') errors.push(...dnsLabel(name, `${path}.name`));
  errors.push(...portNumber(number(port, 'port') ?? 0, `${path}.port`));
  const protocol = text(port, 'protocol');
  if (protocol === '') errors.push(required(`${path}.protocol`));
  else errors.push(...oneOf(protocol, PROTOCOLS, `${path}.protocol`));
  if (has(port, 'appProtocol'))
    errors.push(...qualifiedName(text(port, 'appProtocol'), `${path}.appProtocol`));
  return errors;
}

export const endpointsStrategy: Strategy = {
  nameRule: subdomainName,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  createOnUpdate: true,
  validatesMeta: true,
  validate,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...metaOf(next, true, subdomainName),
    // Unchanged subsets are not validated: they may predate stricter rules.
    ...(equal(value(next, 'subsets'), value(old, 'subsets')) ? [] : validate(next)),
  ],
};
