// Strategy of Ingress: hosts, paths and backends.

import { parseSloppyAddress } from '@lapse/base/ipAddress';
import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { legacyAddress } from '../addresses.ts';
import { check, dnsSubdomain, metaOf, metaUpdate, oneOf, portNumber } from '../checks.ts';
import { labelName, pathSegmentName, portName, subdomainName } from '../names.ts';
import { child, copyField, has, number, objects, part, text, texts } from '../values.ts';
import { CLASS_ANNOTATION, chooseIngressClass } from './ingressClass.ts';

function validateSpec(spec: JsonObject): FieldError[] {
  const rules = objects(spec, 'rules');
  const backend = child(spec, 'defaultBackend');
  const nothing = 'either `defaultBackend` or `rules` must be specified';
  return [
    ...(rules.length === 0 && !backend ? [invalid('spec', null, nothing)] : []),
    ...(backend ? validateBackend(backend, 'spec.defaultBackend') : []),
    ...rules.flatMap((rule, i) => validateRule(rule, `spec.rules[${i}]`)),
    ...objects(spec, 'tls').flatMap((tls, i) => validateTls(tls, `spec.tls[${i}]`)),
    ...(has(spec, 'ingressClassName')
      ? check(subdomainName, text(spec, 'ingressClassName'), 'spec.ingressClassName')
      : []),
  ];
}

/** `*.example.com`. */
function wildcardName(name: string): string[] {
  const pattern = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
  const complaints = name.length > 253 ? ['must be no more than 253 characters'] : [];
  if (!new RegExp(`^${pattern}$`).test(name))
    complaints.push(
      `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${pattern}')`,
    );
  return complaints;
}

const hostErrors = (host: string, path: string): FieldError[] =>
  check(host.includes('*') ? wildcardName : subdomainName, host, path);

function validateTls(tls: JsonObject, path: string): FieldError[] {
  const secret = text(tls, 'secretName');
  return [
    ...texts(tls, 'hosts').flatMap((h, i) => hostErrors(h, `${path}.hosts[${i}]`)),
    ...(secret === '' ? [] : check(subdomainName, secret, `${path}.secretName`)),
  ];
}

function validateRule(rule: JsonObject, path: string): FieldError[] {
  const host = text(rule, 'host');
  const http = child(rule, 'http');
  const errors: FieldError[] = [];
  if (host !== '') {
    if (parseSloppyAddress(host) !== undefined)
      errors.push(invalid(`${path}.host`, host, 'must be a DNS name, not an IP address'));
    errors.push(...hostErrors(host, `${path}.host`));
  }
  if (!http) return errors;
  const paths = objects(http, 'paths');
  if (paths.length === 0) errors.push(required(`${path}.http.paths`));
  return [...errors, ...paths.flatMap((p, i) => validatePath(p, `${path}.http.paths[${i}]`))];
}

const BAD_PARTS = ['//', '/./', '/../', '%2f', '%2F'];
const BAD_ENDS = ['/..', '/.'];

function validatePath(path: JsonObject, at: string): FieldError[] {
  if (!has(path, 'pathType')) return [required(`${at}.pathType`, 'pathType must be specified')];
  return [
    ...validateLocation(text(path, 'pathType'), text(path, 'path'), at),
    ...validateBackend(part(path, 'backend'), `${at}.backend`),
  ];
}

function validateLocation(type: string, location: string, at: string): FieldError[] {
  const refuse = (why: string) => invalid(`${at}.path`, location, why);
  const relative = location.startsWith('/') ? [] : [refuse('must be an absolute path')];
  if (type === 'ImplementationSpecific') return location === '' ? [] : relative;
  if (type !== 'Exact' && type !== 'Prefix')
    return oneOf(type, ['Exact', 'ImplementationSpecific', 'Prefix'], `${at}.pathType`);
  const parts = BAD_PARTS.filter((bad) => location.includes(bad));
  const ends = BAD_ENDS.filter((bad) => location.endsWith(bad));
  return [
    ...relative,
    ...parts.map((bad) => refuse(`must not contain '${bad}'`)),
    ...ends.map((bad) => refuse(`cannot end with '${bad}'`)),
  ];
}

function validateBackend(backend: JsonObject, path: string): FieldError[] {
  const [resource, service] = [child(backend, 'resource'), child(backend, 'service')];
  if (resource && service) return [invalid(path, '', 'cannot set both resource and service backends')];
  if (resource) return validateReference(resource, `${path}.resource`);
  if (!service) return [invalid(path, '', 'resource or service backend is required')];
  const name = text(service, 'name');
  const port = part(service, 'port');
  const [named, numbered] = [text(port, 'name'), number(port, 'number') ?? 0];
  const errors =
    name === '' ? [required(`${path}.service.name`)] : check(labelName, name, `${path}.service.name`);
  if (named !== '' && numbered !== 0)
    errors.push(invalid(path, '', 'cannot set both port name & port number'));
  else if (named !== '') errors.push(...check(portName, named, `${path}.service.port.name`));
  else if (numbered !== 0) errors.push(...portNumber(numbered, `${path}.service.port.number`));
  else errors.push(required(path, 'port name or number is required'));
  return errors;
}

function validateReference(reference: JsonObject, path: string): FieldError[] {
  const named = (field: string) =>
    text(reference, field) === ''
      ? [required(`${path}.${field}`)]
      : check(pathSegmentName, text(reference, field), `${path}.${field}`);
  return [
    ...(has(reference, 'apiGroup') ? dnsSubdomain(text(reference, 'apiGroup'), `${path}.apiGroup`) : []),
    ...named('kind'),
    ...named('name'),
  ];
}

function validateCreate(ingress: KubeObject): FieldError[] {
  const spec = specOf(ingress);
  const annotation = ingress.metadata.annotations?.[CLASS_ANNOTATION];
  const differs =
    annotation !== undefined && has(spec, 'ingressClassName') && annotation !== spec['ingressClassName'];
  const why = 'must match `ingressClassName` when both are specified';
  return [
    ...validateSpec(spec),
    ...(differs ? [invalid(`annotations.${CLASS_ANNOTATION}`, annotation, why)] : []),
  ];
}

const validateStatus = (ingress: KubeObject): FieldError[] =>
  objects(part(statusOf(ingress), 'loadBalancer'), 'ingress').flatMap((point, i) => {
    const path = `status.loadBalancer.ingress[${i}]`;
    const [ip, hostname] = [text(point, 'ip'), text(point, 'hostname')];
    return [
      ...(ip === '' ? [] : legacyAddress(ip, `${path}.ip`)),
      ...(hostname === '' ? [] : check(subdomainName, hostname, `${path}.hostname`)),
      ...(hostname !== '' && parseSloppyAddress(hostname) !== undefined
        ? [invalid(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address')]
        : []),
    ];
  });

export const ingressStrategy: Strategy = {
  nameRule: subdomainName,
  generation: true,
  admit: chooseIngressClass,
  prepareForCreate: (ingress) => {
    ingress['status'] = { loadBalancer: {} };
  },
  validate: validateCreate,
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...metaOf(next, true, subdomainName),
    ...validateSpec(specOf(next)),
  ],
  warnings: (next, old) =>
    !old &&
    next.metadata.annotations?.[CLASS_ANNOTATION] !== undefined &&
    !has(specOf(next), 'ingressClassName')
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  subresources: {
    status: { prepareForUpdate: (next, old) => copyField(next, old, 'spec'), validateUpdate: validateStatus },
  },
};
