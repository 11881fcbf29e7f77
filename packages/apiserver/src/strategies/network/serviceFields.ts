// Validation of addresses, families and ports in the spec of a Service.

import { parseSloppyAddress } from '@lapse/base/ipAddress';
import { duplicate, type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { legacyAddress } from '../addresses.ts';
import { dnsLabel, oneOf, portNumber, qualifiedName } from '../checks.ts';
import { PROTOCOLS } from '../core/endpoints.ts';
import { portOrName } from '../pod/probes.ts';
import { has, list, number, objects, text, texts, value } from '../values.ts';

export const isHeadless = (spec: JsonObject): boolean => {
  const ips = texts(spec, 'clusterIPs');
  return ips.length === 1 && ips[0] === 'None';
};

export const needsNodePort = (spec: JsonObject): boolean =>
  ['NodePort', 'LoadBalancer'].includes(text(spec, 'type'));

export const isExternal = (spec: JsonObject): boolean =>
  needsNodePort(spec) || (text(spec, 'type') === 'ClusterIP' && list(spec, 'externalIPs').length > 0);

export const needsHealthCheck = (spec: JsonObject): boolean =>
  text(spec, 'type') === 'LoadBalancer' && text(spec, 'externalTrafficPolicy') === 'Local';

const FAMILIES = ['IPv4', 'IPv6'];
const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy must be consistent. */
export function validateAddresses(spec: JsonObject): FieldError[] {
  if (text(spec, 'type') === 'ExternalName') return [];
  const [single, ips, families] = [
    text(spec, 'clusterIP'),
    texts(spec, 'clusterIPs'),
    texts(spec, 'ipFamilies'),
  ];
  const path = 'spec.clusterIPs';
  const errors: FieldError[] = [];
  if (single !== '' && ips.length === 0) errors.push(required(path));
  else if (single !== '' && ips[0] !== single)
    errors.push(invalid(path, ips, 'first value must match `clusterIP`'));
  else if (single === '' && ips.length > 0)
    errors.push(invalid(path, ips, 'must be empty when `clusterIP` is not specified'));
  families.forEach((family, i) => {
    errors.push(...oneOf(family, FAMILIES, `spec.ipFamilies[${i}]`));
    if (families.indexOf(family) < i) errors.push(duplicate(`spec.ipFamilies[${i}]`, family));
  });
  if (has(spec, 'ipFamilyPolicy'))
    errors.push(...oneOf(text(spec, 'ipFamilyPolicy'), POLICIES, 'spec.ipFamilyPolicy'));
  return [...errors, ...validateIps(ips, families)];
}

function validateIps(ips: string[], families: string[]): FieldError[] {
  const path = 'spec.clusterIPs';
  const errors: FieldError[] = [];
  ips.forEach((ip, i) => {
    if (i > 0 || ip !== 'None') errors.push(...legacyAddress(ip, `${path}[${i}]`));
    else if (ips.length > 1) errors.push(invalid(path, ips, "'None' must be the first and only value"));
  });
  const odd = errors.length > 0;
  if (ips.length > 2) errors.push(invalid(path, ips, 'may only hold up to 2 values'));
  if (odd || ips[0] === 'None') return errors;
  const versions = ips.map((ip) => parseSloppyAddress(ip)?.family === 6);
  if (ips.length > 1 && new Set(versions).size < 2)
    errors.push(invalid(path, ips, 'may specify no more than one IP for each IP family'));
  versions.slice(0, families.length).forEach((six, i) => {
    if (six !== (families[i] === 'IPv6')) {
      const why = `expected an ${families[i]} value as indicated by \`ipFamilies[${i}]\``;
      errors.push(invalid(`${path}[${i}]`, ips[i], why));
    }
  });
  return errors;
}

export function validatePorts(spec: JsonObject): FieldError[] {
  const ports = objects(spec, 'ports');
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const path = `spec.ports[${i}]`;
    const [name, protocol] = [text(port, 'name'), text(port, 'protocol')];
    const errors: FieldError[] = [];
    if (name === '' && ports.length > 1) errors.push(required(`${path}.name`));
    else if (name !== '') {
      errors.push(...dnsLabel(name, `${path}.name`));
      if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
    return [
      ...errors,
      ...portNumber(number(port, 'port') ?? 0, `${path}.port`),
      ...(protocol === '' ? [required(`${path}.protocol`)] : oneOf(protocol, PROTOCOLS, `${path}.protocol`)),
      ...portOrName(value(port, 'targetPort'), `${path}.targetPort`),
      ...(has(port, 'appProtocol') ? qualifiedName(text(port, 'appProtocol'), `${path}.appProtocol`) : []),
    ];
  });
}

/** Node ports and ports are unique per protocol. */
export function validateUnique(spec: JsonObject): FieldError[] {
  const ports = objects(spec, 'ports');
  const same = (field: string) => (a: JsonObject, b: JsonObject) =>
    text(a, 'protocol') === text(b, 'protocol') && number(a, field) === number(b, field);
  const repeated = (field: string) => (port: JsonObject, i: number) =>
    (number(port, field) ?? 0) !== 0 && ports.slice(0, i).some((p) => same(field)(p, port));
  return [
    ...ports.flatMap((port, i) =>
      repeated('nodePort')(port, i) ? [duplicate(`spec.ports[${i}].nodePort`, number(port, 'nodePort'))] : [],
    ),
    ...ports.flatMap((port, i) =>
      repeated('port')(port, i)
        ? [duplicate(`spec.ports[${i}]`, internalPort(text(port, 'protocol'), number(port, 'port') ?? 0))]
        : [],
    ),
  ];
}

/** A port as printed from the internal type of Kubernetes. */
const internalPort = (protocol: string, port: number) => ({
  Name: '',
  Protocol: protocol,
  AppProtocol: null,
  Port: port,
  TargetPort: 0,
  NodePort: 0,
});

export function validateAffinity(spec: JsonObject): FieldError[] {
  const affinity = text(spec, 'sessionAffinity');
  const path = 'spec.sessionAffinity';
  if (affinity === '') return [required(path)];
  if (affinity === 'None')
    return has(spec, 'sessionAffinityConfig')
      ? [
          {
            reason: 'FieldValueForbidden',
            field: 'spec.sessionAffinityConfig',
            message: 'Forbidden: must not be set when session affinity is None',
          },
        ]
      : [];
  if (affinity !== 'ClientIP') return [notSupported(path, affinity, ['ClientIP', 'None'])];
  const config = spec['sessionAffinityConfig'] as JsonObject | undefined;
  const client = config?.['clientIP'] as JsonObject | undefined;
  const seconds = number(client, 'timeoutSeconds') ?? 0;
  return seconds <= 0 || seconds > 86_400
    ? [
        invalid(
          'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
          seconds,
          'must be greater than 0 and less than 86400',
        ),
      ]
    : [];
}
