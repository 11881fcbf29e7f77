// Validation of a Pod spec, in a Pod or in a template.

import {
  type FieldError,
  forbidden,
  invalid,
  notFound,
  required,
  tooLong,
} from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { validateLabels } from '../../metadata/validateMeta.ts';
import { legacyAddress } from '../addresses.ts';
import { check, dnsLabel, dnsSubdomain, inRange, oneOf, qualifiedName } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { child, flag, has, number, objects, stringMap, text, texts } from '../values.ts';
import { validatePodClaims } from './claims.ts';
import { type PodParts, validateContainers, validateInitContainers } from './containers.ts';
import { validateEphemeral } from './ephemeral.ts';
import { validatePodResources } from './podResources.ts';
import { validateResources } from './resources.ts';
import { validateAffinity, validateGates, validateSpread, validateTolerations } from './scheduling.ts';
import { validatePodSecurity } from './security.ts';
import { validateVolumes } from './volumes.ts';

export const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const MAX_INT32 = 2_147_483_647;

/** `podName`: undefined in a template. */
export function validatePodSpec(spec: JsonObject, podName: string | undefined, path: string): FieldError[] {
  const { volumes, errors } = validateVolumes(spec, `${path}.volumes`, { podName });
  const pod: PodParts = {
    volumes,
    claims: objects(spec, 'resourceClaims').map((c) => text(c, 'name')),
    grace: number(spec, 'terminationGracePeriodSeconds'),
    hostUsers: flag(spec, 'hostUsers') !== false,
    restartPolicy: text(spec, 'restartPolicy'),
  };
  return [
    ...(pod.grace === undefined ? [required(`${path}.terminationGracePeriodSeconds`)] : []),
    ...errors,
    ...validatePodClaims(spec, path),
    ...validateContainers(spec, pod, path),
    ...validateInitContainers(spec, pod, path),
    ...validateEphemeral(spec, pod, path),
    ...validatePodResources(spec, pod.claims, path),
    ...validateHostNetwork(spec, podName !== undefined, path),
    ...choice(spec, 'restartPolicy', RESTART_POLICIES, path),
    ...choice(spec, 'dnsPolicy', DNS_POLICIES, path),
    ...validateLabels(stringMap(spec, 'nodeSelector'), `${path}.nodeSelector`),
    ...validatePodSecurity(spec, path),
    ...validateAffinity(child(spec, 'affinity'), `${path}.affinity`),
    ...validateDns(spec, `${path}.dnsConfig`),
    ...objects(spec, 'readinessGates').flatMap((g, i) =>
      qualifiedName(text(g, 'conditionType'), `${path}.readinessGates[${i}].conditionType`),
    ),
    ...validateGates(objects(spec, 'schedulingGates'), `${path}.schedulingGates`),
    ...validateSpread(objects(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`),
    ...validateHostUsers(spec, path),
    ...validateHostname(spec, `${path}.hostnameOverride`),
    ...validateNames(spec, path),
    ...validateRest(spec, path),
  ];
}

const choice = (spec: JsonObject, field: string, values: string[], path: string): FieldError[] =>
  text(spec, field) === ''
    ? [required(`${path}.${field}`)]
    : oneOf(text(spec, field), values, `${path}.${field}`);

function validateHostNetwork(spec: JsonObject, isPod: boolean, path: string): FieldError[] {
  if (flag(spec, 'hostNetwork') !== true) return [];
  return objects(spec, 'containers').flatMap((container, c) =>
    objects(container, 'ports').flatMap((port, p) => {
      const outer = number(port, 'hostPort') ?? 0;
      const fits = outer === (number(port, 'containerPort') ?? 0) || (!isPod && outer === 0);
      const why = 'must match `containerPort` when `hostNetwork` is true';
      return fits ? [] : [invalid(`${path}.containers[${c}].ports[${p}].hostPort`, outer, why)];
    }),
  );
}

const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_LIST = 2048;

function validateDns(spec: JsonObject, path: string): FieldError[] {
  const config = child(spec, 'dnsConfig');
  const servers = texts(config, 'nameservers');
  if (text(spec, 'dnsPolicy') === 'None') {
    if (!config) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (servers.length === 0) {
      const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [required(`${path}.nameservers`, why)];
    }
  }
  if (!config) return [];
  const searches = texts(config, 'searches');
  const errors: FieldError[] = [];
  const limit = (list: string[], field: string, why: string) =>
    errors.push(invalid(`${path}.${field}`, list, `must not have more than ${why}`));
  if (servers.length > MAX_SERVERS) limit(servers, 'nameservers', `${MAX_SERVERS} nameservers`);
  servers.forEach((s, i) => {
    errors.push(...legacyAddress(s, `${path}.nameservers[${i}]`));
  });
  if (searches.length > MAX_SEARCHES) limit(searches, 'searches', `${MAX_SEARCHES} search paths`);
  if (searches.join(' ').length > MAX_SEARCH_LIST)
    limit(searches, 'searches', `${MAX_SEARCH_LIST} characters (including spaces) in the search list`);
  searches.forEach((search, i) => {
    if (search !== '.')
      errors.push(...check(searchPath, search.replace(/\.$/, ''), `${path}.searches[${i}]`));
  });
  objects(config, 'options').forEach((option, i) => {
    if (text(option, 'name') === '') errors.push(required(`${path}.options[${i}]`, 'must not be empty'));
  });
  return errors;
}

/** A domain name whose labels may contain underscores, also one at the start. */
function searchPath(name: string): string[] {
  const part = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
  const complaints = name.length > 253 ? ['must be no more than 253 characters'] : [];
  if (!new RegExp(`^${part}(\\.${part})*$`).test(name))
    complaints.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${part}(\\.${part})*')`,
    );
  return complaints;
}

function validateHostUsers(spec: JsonObject, path: string): FieldError[] {
  if (flag(spec, 'hostUsers') !== false) return [];
  const names = { hostNetwork: 'hostNetwork', hostPID: 'HostPID', hostIPC: 'HostIPC' };
  const why = 'when `hostUsers` is false';
  return [
    ...Object.entries(names)
      .filter(([field]) => flag(spec, field) === true)
      .map(([, shown]) => forbidden(`${path}.${shown}`, why)),
    ...['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
      objects(spec, list).flatMap((container, i) =>
        objects(container, 'volumeDevices').length > 0
          ? [forbidden(`${path}.${list}[${i}].volumeDevices`, why)]
          : [],
      ),
    ),
  ];
}

const MAX_HOSTNAME = 64;

function validateHostname(spec: JsonObject, path: string): FieldError[] {
  if (!has(spec, 'hostnameOverride')) return [];
  const name = text(spec, 'hostnameOverride');
  const excluding = ['setHostnameAsFQDN', 'hostNetwork'].filter((f) => flag(spec, f) === true);
  return [
    ...excluding.map((f) => forbidden(path, `may not be specified when ${f} is true`)),
    ...(Buffer.byteLength(name) > MAX_HOSTNAME ? [tooLong(path, MAX_HOSTNAME)] : []),
    ...dnsSubdomain(name, path),
  ];
}

/** Variables from files need the volume of the file. */
function validateFileVolumes(spec: JsonObject, path: string): FieldError[] {
  const volumes = new Map(objects(spec, 'volumes').map((v) => [text(v, 'name'), v]));
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    objects(spec, list).flatMap((container, c) =>
      objects(container, 'env').flatMap((variable, i) => {
        const ref = child(child(variable, 'valueFrom'), 'fileKeyRef');
        if (!ref) return [];
        const at = `${path}.${list}[${c}].env[${i}].valueFrom.fileKeyRef.volumeName`;
        const volume = volumes.get(text(ref, 'volumeName'));
        if (!volume) return [notFound(at, text(ref, 'volumeName'))];
        const why = 'referenced volume must be of type emptyDir';
        return child(volume, 'emptyDir') ? [] : [invalid(at, text(ref, 'volumeName'), why)];
      }),
    ),
  );
}

function validateNames(spec: JsonObject, path: string): FieldError[] {
  const optional = (field: string, rule: (value: string, at: string) => FieldError[]) =>
    text(spec, field) === '' ? [] : rule(text(spec, field), `${path}.${field}`);
  const subdomain = (v: string, at: string) => check(subdomainName, v, at);
  const deadline = number(spec, 'activeDeadlineSeconds');
  return [
    ...optional('serviceAccountName', subdomain),
    ...optional('nodeName', subdomain),
    ...(deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)
      ? [invalid(`${path}.activeDeadlineSeconds`, deadline, inRange(1, MAX_INT32))]
      : []),
    ...optional('hostname', dnsLabel),
    ...optional('subdomain', dnsLabel),
  ];
}

function validateRest(spec: JsonObject, path: string): FieldError[] {
  const overhead = child(spec, 'overhead');
  const os = child(spec, 'os');
  const priority = text(spec, 'priorityClassName');
  return [
    ...validateTolerations(objects(spec, 'tolerations'), `${path}.tolerations`),
    ...objects(spec, 'hostAliases').flatMap((alias, i) => [
      ...legacyAddress(text(alias, 'ip'), `${path}.hostAliases[${i}].ip`),
      ...texts(alias, 'hostnames').flatMap((h, j) =>
        dnsSubdomain(h, `${path}.hostAliases[${i}].hostnames[${j}]`),
      ),
    ]),
    ...(priority === '' ? [] : check(subdomainName, priority, `${path}.priorityClassName`)),
    ...(has(spec, 'runtimeClassName')
      ? check(subdomainName, text(spec, 'runtimeClassName'), `${path}.runtimeClassName`)
      : []),
    ...(has(spec, 'preemptionPolicy')
      ? choice(spec, 'preemptionPolicy', ['PreemptLowerPriority', 'Never'], path)
      : []),
    ...(overhead ? validateResources({ limits: overhead }, `${path}.overhead`, []) : []),
    ...(os ? validateOs(text(os, 'name'), `${path}.os`) : []),
    ...validateFileVolumes(spec, path),
  ];
}

const validateOs = (name: string, path: string): FieldError[] =>
  name === '' ? [required(`${path}.name`)] : oneOf(name, ['linux', 'windows'], path);
