// Validation of environment variables: names, sources of values, and the downward API.

import { type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { check, dnsLabel, qualifiedName } from '../checks.ts';
import { configKey, subdomainName } from '../names.ts';
import { nanos } from '../quantities.ts';
import { child, objects, text, value } from '../values.ts';
import { noBacksteps } from './paths.ts';

/** Printable ASCII except `=`. */
function variableName(name: string): string[] {
  return /^[\x20-\x7e]*$/.test(name) && !name.includes('=')
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

export const validateEnv = (container: JsonObject, path: string): FieldError[] => [
  ...objects(container, 'env').flatMap((variable, i) => validateVariable(variable, `${path}.env[${i}]`)),
  ...validateEnvFrom(objects(container, 'envFrom'), `${path}.envFrom`),
];

function validateVariable(variable: JsonObject, path: string): FieldError[] {
  const name = text(variable, 'name');
  const named = name === '' ? [required(`${path}.name`)] : check(variableName, name, `${path}.name`);
  return [...named, ...validateSource(variable, `${path}.valueFrom`)];
}

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const SOURCES: readonly (readonly [string, (ref: JsonObject, path: string) => FieldError[]])[] = [
  ['fieldRef', (ref, path) => validateFieldRef(ref, ENV_FIELDS, path)],
  ['resourceFieldRef', (ref, path) => validateResourceRef(ref, false, path)],
  ['configMapKeyRef', validateKeyRef],
  ['secretKeyRef', validateKeyRef],
  ['fileKeyRef', validateFileRef],
];

function validateSource(variable: JsonObject, path: string): FieldError[] {
  const source = child(variable, 'valueFrom');
  if (!source) return [];
  const errors: FieldError[] = [];
  let given = 0;
  for (const [name, validate] of SOURCES) {
    const ref = child(source, name);
    if (!ref) continue;
    given++;
    errors.push(...validate(ref, `${path}.${name}`));
  }
  if (given === 0) {
    const names = SOURCES.map(([name]) => `\`${name}\``);
    const list = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
    errors.push(invalid(path, '', `must specify one of: ${list}`));
  } else if (text(variable, 'value') !== '')
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (given > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
}

function validateKeyRef(ref: JsonObject, path: string): FieldError[] {
  const key = text(ref, 'key');
  return [
    ...check(subdomainName, text(ref, 'name'), `${path}.name`),
    ...(key === '' ? [required(`${path}.key`)] : check(configKey, key, `${path}.key`)),
  ];
}

function validateFileRef(ref: JsonObject, path: string): FieldError[] {
  const [key, volume, file] = [text(ref, 'key'), text(ref, 'volumeName'), text(ref, 'path')];
  return [
    ...(key === '' ? [required(`${path}.key`)] : check(variableName, key, `${path}.key`)),
    ...(volume === '' ? [required(`${path}.volumeName`)] : dnsLabel(volume, `${path}.volumeName`)),
    ...(file === '' ? [required(`${path}.path`)] : noBacksteps(file, `${path}.path`)),
  ];
}

const LABELS = [
  'metadata.annotations',
  'metadata.labels',
  ...ENV_FIELDS,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
];

/** A field of the Pod, including `metadata.labels['key']`. */
export function validateFieldRef(ref: JsonObject, supported: readonly string[], path: string): FieldError[] {
  const [version, field] = [text(ref, 'apiVersion'), text(ref, 'fieldPath')];
  if (version === '') return [required(`${path}.apiVersion`)];
  if (field === '') return [required(`${path}.fieldPath`)];
  const subscripted = /^(.*)\['(.*)'\]$/.exec(field);
  const base = subscripted ? subscripted[1]! : field === 'spec.host' ? 'spec.nodeName' : field;
  const refuse = (why: string) => [invalid(`${path}.fieldPath`, field, `error converting fieldPath: ${why}`)];
  if (version !== 'v1') return refuse(`unsupported pod version: ${version}`);
  if (subscripted) {
    if (base !== 'metadata.annotations' && base !== 'metadata.labels')
      return refuse(`field label does not support subscript: ${field}`);
    const key = subscripted[2]!;
    return qualifiedName(base === 'metadata.annotations' ? key.toLowerCase() : key, path);
  }
  if (!LABELS.includes(base)) return refuse(`field label not supported: ${field}`);
  return supported.includes(base) ? [] : [notSupported(`${path}.fieldPath`, base, [...supported].sort())];
}

const RESOURCES = ['limits', 'requests'].flatMap((kind) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${kind}.${name}`),
);
const SIZES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** A limit or request of a container; volumes must name the container. */
export function validateResourceRef(ref: JsonObject, inVolume: boolean, path: string): FieldError[] {
  const resource = text(ref, 'resource');
  if (inVolume && text(ref, 'containerName') === '') return [required(`${path}.containerName`)];
  if (resource === '') return [required(`${path}.resource`)];
  const known = RESOURCES.includes(resource) || /^(requests|limits)\.hugepages-/.test(resource);
  const errors = known ? [] : [notSupported(`${path}.resource`, resource, RESOURCES)];
  const divisor = value(ref, 'divisor');
  if (nanos(divisor) === 0n) return errors;
  const [, name = ''] = /^(?:limits|requests)\.(cpu|memory|ephemeral-storage|hugepages)/.exec(resource) ?? [];
  const kind = DIVIDED[name];
  const allowed = name === 'cpu' ? ['1m', '1'] : SIZES;
  if (kind && !allowed.includes(String(divisor))) {
    const values = name === 'cpu' ? '1m and 1' : SIZES.join(', ');
    const why = `only divisor's values ${values} are supported with the ${kind} resource`;
    errors.push(invalid(`${path}.divisor`, resource, why));
  }
  return errors;
}

/** The name of the divided resource in errors. */
const DIVIDED: Readonly<Record<string, string>> = {
  cpu: 'cpu',
  memory: 'memory',
  'ephemeral-storage': 'local ephemeral storage',
  hugepages: 'hugepages',
};

function validateEnvFrom(sources: JsonObject[], path: string): FieldError[] {
  return sources.flatMap((source, i) => {
    const at = `${path}[${i}]`;
    const prefix = text(source, 'prefix');
    const errors = prefix === '' ? [] : check(variableName, prefix, `${at}.prefix`);
    const given = ['configMapRef', 'secretRef'].filter((name) => child(source, name));
    for (const name of given) {
      const ref = text(child(source, name), 'name');
      const refPath = `${at}.${name}.name`;
      errors.push(
        ...(ref === '' ? [required(refPath)] : check(subdomainName, ref.replace(/-$/, 'a'), refPath)),
      );
    }
    // kube-apiserver names the list here, not the element.
    if (given.length === 0)
      errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    else if (given.length > 1)
      errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
    return errors;
  });
}
