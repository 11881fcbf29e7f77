// Strategy of EndpointSlice: all addresses have one type, which is immutable.

import { parseSloppyAddress } from '@lapse/base/ipAddress';
import { duplicate, type FieldError, invalid, required, tooMany } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { validateLabels } from '../../metadata/validateMeta.ts';
import type { Strategy } from '../../resources/resource.ts';
import { endpointAddress, legacyAddress } from '../addresses.ts';
import { dnsLabel, dnsSubdomain, immutable, labelValue, metaOf, oneOf, qualifiedName } from '../checks.ts';
import { PROTOCOLS } from '../core/endpoints.ts';
import { labelName, subdomainName } from '../names.ts';
import { child, has, objects, stringMap, text, texts, value } from '../values.ts';

const TYPES = ['FQDN', 'IPv4', 'IPv6'];
const MAX = { endpoints: 1000, addresses: 100, ports: 20_000, hints: 8, topology: 16 };

function validate(slice: KubeObject, old?: KubeObject): FieldError[] {
  const type = text(slice, 'addressType');
  const unchanged = old && equal(value(slice, 'endpoints'), value(old, 'endpoints'));
  return [
    ...(type === '' ? [required('addressType')] : oneOf(type, TYPES, 'addressType')),
    ...validatePorts(objects(slice, 'ports')),
    ...(unchanged ? [] : validateEndpoints(objects(slice, 'endpoints'), type)),
  ];
}

function validatePorts(ports: JsonObject[]): FieldError[] {
  if (ports.length > MAX.ports) return [tooMany('ports', ports.length, MAX.ports)];
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const [path, name] = [`ports[${i}]`, text(port, 'name')];
    const repeated = names.has(name);
    names.add(name);
    return [
      ...(name === '' ? [] : dnsLabel(name, `${path}.name`)),
      ...(repeated ? [duplicate(`${path}.name`, name)] : []),
      ...oneOf(text(port, 'protocol'), PROTOCOLS, `${path}.protocol`),
      ...(has(port, 'appProtocol') ? qualifiedName(text(port, 'appProtocol'), `${path}.appProtocol`) : []),
    ];
  });
}

function validateEndpoints(endpoints: JsonObject[], type: string): FieldError[] {
  if (endpoints.length > MAX.endpoints) return [tooMany('endpoints', endpoints.length, MAX.endpoints)];
  return endpoints.flatMap((endpoint, i) => {
    const path = `endpoints[${i}]`;
    const topology = stringMap(endpoint, 'deprecatedTopology');
    const count = Object.keys(topology).length;
    return [
      ...validateAddresses(texts(endpoint, 'addresses'), type, `${path}.addresses`),
      ...(has(endpoint, 'nodeName') ? dnsSubdomain(text(endpoint, 'nodeName'), `${path}.nodeName`) : []),
      ...(count > MAX.topology ? [tooMany(`${path}.deprecatedTopology`, count, MAX.topology)] : []),
      ...validateLabels(topology, `${path}.deprecatedTopology`),
      ...(has(endpoint, 'hostname') ? dnsLabel(text(endpoint, 'hostname'), `${path}.hostname`) : []),
      ...validateHints(child(endpoint, 'hints'), `${path}.hints`),
    ];
  });
}

function validateAddresses(addresses: string[], type: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(path, 'must contain at least 1 address'));
  if (addresses.length > MAX.addresses) errors.push(tooMany(path, addresses.length, MAX.addresses));
  addresses.forEach((address, i) => {
    if (type === 'FQDN') errors.push(...domainErrors(address, `${path}[${i}]`));
    else if (TYPES.includes(type)) errors.push(...addressErrors(address, type, path, i));
  });
  return errors;
}

function addressErrors(address: string, type: string, path: string, i: number): FieldError[] {
  const odd = legacyAddress(address, `${path}[${i}]`);
  if (odd.length > 0) return odd;
  const six = parseSloppyAddress(address)?.family === 6;
  return [
    ...(six === (type === 'IPv6') ? [] : [invalid(path, address, `must be an ${type} address`)]),
    ...endpointAddress(address, `${path}[${i}]`),
  ];
}

function domainErrors(domain: string, path: string): FieldError[] {
  if (domain === '') return [required(path)];
  const name = domain.replace(/\.$/, '');
  const odd = subdomainName(name);
  if (odd.length > 0) return [invalid(path, name, odd.join(','))];
  const labels = name.split('.');
  if (labels.length < 2)
    return [invalid(path, name, 'should be a domain with at least two segments separated by dots')];
  const long = labels.find((label) => labelName(label).length > 0);
  return long === undefined ? [] : [invalid(path, long, labelName(long).join(','))];
}

function validateHints(hints: JsonObject | undefined, path: string): FieldError[] {
  const zones = objects(hints, 'forZones').map((z) => text(z, 'name'));
  const nodes = objects(hints, 'forNodes').map((n) => text(n, 'name'));
  if (zones.length > MAX.hints) return [tooMany(`${path}.forZones`, zones.length, MAX.hints)];
  const named = (
    names: string[],
    field: string,
    check: (name: string, at: string) => FieldError[],
  ): FieldError[] =>
    names.flatMap((name, i) => {
      const at = `${path}.${field}[${i}].name`;
      return [...(names.indexOf(name) < i ? [duplicate(at, name)] : []), ...check(name, at)];
    });
  return [
    ...named(zones, 'forZones', labelValue),
    ...(nodes.length > MAX.hints
      ? [tooMany(`${path}.forNodes`, nodes.length, MAX.hints)]
      : named(nodes, 'forNodes', dnsSubdomain)),
  ];
}

/** Writes to this deprecated field are ignored. */
function dropTopology(slice: KubeObject): void {
  for (const endpoint of objects(slice, 'endpoints')) delete endpoint['deprecatedTopology'];
}

export const endpointSliceStrategy: Strategy = {
  nameRule: subdomainName,
  generation: true,
  prepareForCreate: dropTopology,
  prepareForUpdate(next, old) {
    if (!equal(value(next, 'endpoints'), value(old, 'endpoints'))) dropTopology(next);
    // Changed labels count as a change, unlike in other kinds.
    if (!equal(next.metadata.labels ?? {}, old.metadata.labels ?? {}))
      next.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validate: (slice) => validate(slice),
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, true, subdomainName),
    ...validate(next, old),
    ...immutable(value(next, 'addressType'), value(old, 'addressType'), 'addressType'),
  ],
  warnings: (slice, old) =>
    !old && text(slice, 'addressType') === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [],
};
