// Strategy of Service: allocates and keeps its addresses and ports, and drops fields that do not apply to its type.

import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { validateLabels } from '../../metadata/validateMeta.ts';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { endpointAddress, legacyAddress, legacyRange } from '../addresses.ts';
import { dnsSubdomain, metaUpdate, oneOf, portNumber, qualifiedName } from '../checks.ts';
import { labelName } from '../names.ts';
import {
  child,
  copyField,
  defaultTo,
  ensure,
  has,
  list,
  number,
  objects,
  part,
  stringMap,
  text,
  texts,
  value,
} from '../values.ts';
import { validateBalancerStatus } from './loadBalancer.ts';
import { allocate } from './serviceAllocation.ts';
import {
  isExternal,
  isHeadless,
  needsHealthCheck,
  needsNodePort,
  validateAddresses,
  validateAffinity,
  validatePorts,
  validateUnique,
} from './serviceFields.ts';

const AFFINITY_SECONDS = 10_800;

function applyDefaults(service: KubeObject): void {
  const spec = ensure(service, 'spec');
  const type = text(spec, 'type') || 'ClusterIP';
  defaultAffinity(spec);
  for (const port of objects(spec, 'ports')) {
    const target = value(port, 'targetPort');
    if (target === undefined || target === 0 || target === '') copyPort(port);
  }
  spec['type'] = type;
  if (isExternal(spec) && text(spec, 'externalTrafficPolicy') === '')
    spec['externalTrafficPolicy'] = 'Cluster';
  if (type !== 'ExternalName') defaultTo(spec, 'internalTrafficPolicy', 'Cluster');
  if (type !== 'LoadBalancer') return;
  defaultTo(spec, 'allocateLoadBalancerNodePorts', true);
  for (const ingress of objects(part(statusOf(service), 'loadBalancer'), 'ingress'))
    if (text(ingress, 'ip') !== '') defaultTo(ingress, 'ipMode', 'VIP');
}

const copyPort = (port: JsonObject) => {
  port['targetPort'] = number(port, 'port') ?? 0;
};

function defaultAffinity(spec: JsonObject): void {
  const affinity = text(spec, 'sessionAffinity') || 'None';
  if (affinity === 'None') delete spec['sessionAffinityConfig'];
  const client = child(child(spec, 'sessionAffinityConfig'), 'clientIP');
  if (affinity === 'ClientIP' && !has(client, 'timeoutSeconds'))
    spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
}

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

function validate(service: KubeObject): FieldError[] {
  const spec = specOf(service);
  const type = text(spec, 'type');
  const portless = list(spec, 'ports').length === 0 && !isHeadless(spec) && type !== 'ExternalName';
  return [
    ...(portless ? [required('spec.ports')] : []),
    ...validateType(spec, type),
    ...validatePorts(spec),
    ...validateLabels(stringMap(spec, 'selector'), 'spec.selector'),
    ...validateAffinity(spec),
    ...validateAddresses(spec),
    ...texts(spec, 'externalIPs').flatMap((ip, i) => {
      const odd = legacyAddress(ip, `spec.externalIPs[${i}]`);
      return odd.length > 0 ? odd : endpointAddress(ip, `spec.externalIPs[${i}]`);
    }),
    ...(type === '' ? [required('spec.type')] : oneOf(type, TYPES, 'spec.type')),
    ...(type === 'ClusterIP' ? nodePortErrors(spec) : []),
    ...validateUnique(spec),
    ...validateBalancer(spec, type),
    ...validatePolicies(spec, type),
  ];
}

function validateType(spec: JsonObject, type: string): FieldError[] {
  if (needsNodePort(spec))
    return isHeadless(spec)
      ? [invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)]
      : [];
  if (type !== 'ExternalName') return [];
  const set = ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].filter((f) => has(spec, f));
  const name = text(spec, 'externalName').replace(/\.$/, '');
  return [
    ...set.map((f) => forbidden(`spec.${f}`, 'may not be set for ExternalName services')),
    ...(name === '' ? [required('spec.externalName')] : dnsSubdomain(name, 'spec.externalName')),
  ];
}

const nodePortErrors = (spec: JsonObject): FieldError[] =>
  objects(spec, 'ports').flatMap((port, i) =>
    (number(port, 'nodePort') ?? 0) === 0
      ? []
      : [forbidden(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'")],
  );

function validateBalancer(spec: JsonObject, type: string): FieldError[] {
  const ranges = texts(spec, 'loadBalancerSourceRanges');
  const path = 'spec.LoadBalancerSourceRanges';
  const only = "may only be used when `type` is 'LoadBalancer'";
  const balanced = type === 'LoadBalancer';
  return [
    ...(ranges.length > 0 && !balanced ? [forbidden(path, only)] : []),
    ...ranges.flatMap((r, i) => legacyRange(r.trim(), `${path}[${i}]`)),
    ...(has(spec, 'allocateLoadBalancerNodePorts') && !balanced
      ? [forbidden('spec.allocateLoadBalancerNodePorts', only)]
      : []),
    ...classErrors(spec, balanced),
  ];
}

function classErrors(spec: JsonObject, balanced: boolean): FieldError[] {
  if (!has(spec, 'loadBalancerClass')) return [];
  const path = 'spec.loadBalancerClass';
  return balanced
    ? qualifiedName(text(spec, 'loadBalancerClass'), path)
    : [forbidden(path, "may only be used when `type` is 'LoadBalancer'")];
}

function validatePolicies(spec: JsonObject, type: string): FieldError[] {
  const external = text(spec, 'externalTrafficPolicy');
  const health = number(spec, 'healthCheckNodePort') ?? 0;
  const errors: FieldError[] = [];
  const path = 'spec.externalTrafficPolicy';
  if (!isExternal(spec)) {
    if (external !== '')
      errors.push(invalid(path, external, 'may only be set for externally-accessible services'));
  } else errors.push(...(external === '' ? [required(path)] : oneOf(external, ['Cluster', 'Local'], path)));
  if (needsHealthCheck(spec))
    errors.push(
      ...(health === 0
        ? [required('spec.healthCheckNodePort')]
        : portNumber(health, 'spec.healthCheckNodePort')),
    );
  else if (health !== 0) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalid('spec.healthCheckNodePort', health, why));
  }
  if (has(spec, 'internalTrafficPolicy'))
    errors.push(
      ...oneOf(text(spec, 'internalTrafficPolicy'), ['Cluster', 'Local'], 'spec.internalTrafficPolicy'),
    );
  else if (type !== 'ExternalName') errors.push(required('spec.internalTrafficPolicy'));
  if (has(spec, 'trafficDistribution')) {
    const supported = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
    errors.push(...oneOf(text(spec, 'trafficDistribution'), supported, 'spec.trafficDistribution'));
  }
  return errors;
}

/** Drops values that only the old type had and that the client did not change. */
function dropForType(spec: JsonObject, before: JsonObject): void {
  const same = (field: string) => equal(value(spec, field), value(before, field));
  const drop = (...fields: string[]) => {
    for (const field of fields) if (same(field)) delete spec[field];
  };
  const external = (s: JsonObject) => text(s, 'type') === 'ExternalName';
  if (!external(before) && external(spec)) {
    if (same('clusterIPs')) drop('clusterIP', 'clusterIPs');
    drop('ipFamilies', 'ipFamilyPolicy');
  }
  if (needsNodePort(before) && !needsNodePort(spec) && sameNodePorts(spec, before))
    for (const port of objects(spec, 'ports')) delete port['nodePort'];
  if (needsHealthCheck(before) && !needsHealthCheck(spec)) drop('healthCheckNodePort');
  if (text(before, 'type') === 'LoadBalancer' && text(spec, 'type') !== 'LoadBalancer')
    drop('allocateLoadBalancerNodePorts', 'loadBalancerClass');
  if (isExternal(before) && !isExternal(spec)) drop('externalTrafficPolicy');
}

function sameNodePorts(spec: JsonObject, before: JsonObject): boolean {
  const ports = (s: JsonObject) => new Set(objects(s, 'ports').map((p) => number(p, 'nodePort') ?? 0));
  return ports(spec).symmetricDifference(ports(before)).size === 0;
}

function validateChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [spec, before] = [specOf(next), specOf(old)];
  const errors = metaUpdate(next, old);
  const external = text(spec, 'type') === 'ExternalName' || text(before, 'type') === 'ExternalName';
  if (!external) errors.push(...addressChange(spec, before));
  const balanced = text(spec, 'type') === 'LoadBalancer' && text(before, 'type') === 'LoadBalancer';
  if (balanced && value(spec, 'loadBalancerClass') !== value(before, 'loadBalancerClass'))
    errors.push(
      invalid('spec.loadBalancerClass', value(spec, 'loadBalancerClass') ?? null, 'may not change once set'),
    );
  errors.push(...classErrors(spec, text(spec, 'type') === 'LoadBalancer'));
  const [port, was] = [number(spec, 'healthCheckNodePort'), number(before, 'healthCheckNodePort')];
  if (needsHealthCheck(spec) && needsHealthCheck(before) && port !== was)
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'));
  return [...errors, ...validate(next)];
}

function addressChange(spec: JsonObject, before: JsonObject): FieldError[] {
  if (isHeadless(spec) && isHeadless(before)) return [];
  const [now, then] = [texts(spec, 'clusterIPs'), texts(before, 'clusterIPs')];
  const changed = [invalid('spec.clusterIPs[0]', now, 'may not change once set')];
  if (now.length === 0 && then.length > 0)
    return [invalid('spec.clusterIPs[0]', null, 'primary clusterIP can not be unset')];
  const errors = then.length > 0 && now[0] !== then[0] ? changed : [];
  if (isHeadless(spec) !== isHeadless(before)) return errors;
  const [families, had] = [texts(spec, 'ipFamilies'), texts(before, 'ipFamilies')];
  if (families.length > 0 && had.length > 0 && families[0] !== had[0])
    errors.push(invalid('spec.ipFamilies[0]', families, 'may not change once set'));
  return errors;
}

function warnings(service: KubeObject): string[] {
  const spec = specOf(service);
  const [type, headless] = [text(spec, 'type'), isHeadless(spec)];
  const addressed = list(spec, 'externalIPs').length > 0;
  const out: string[] = [];
  if (headless && text(spec, 'loadBalancerIP') !== '')
    out.push('spec.loadBalancerIP is ignored for headless services');
  if (headless && addressed) out.push('spec.externalIPs is ignored for headless services');
  if (headless && text(spec, 'sessionAffinity') !== 'None')
    out.push('spec.SessionAffinity is ignored for headless services');
  if (addressed && !headless && type !== 'ExternalName')
    out.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (addressed && type === 'ExternalName')
    out.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (type !== 'ExternalName' && text(spec, 'externalName') !== '')
    out.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (text(spec, 'trafficDistribution') === 'PreferClose')
    out.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return out;
}

/** Hidden on a Service of type ExternalName. */
function hideTrafficPolicy(service: KubeObject): void {
  if (text(specOf(service), 'type') === 'ExternalName') delete specOf(service)['internalTrafficPolicy'];
}

export const serviceStrategy: Strategy = {
  nameRule: labelName,
  returnDeleted: true,
  createOnUpdate: true,
  applyDefaults,
  prepareForCreate(service, context) {
    allocate(service, undefined, context);
    service['status'] = { loadBalancer: {} };
  },
  validate,
  prepareForUpdate(next, old, context) {
    allocate(next, old, context);
    copyField(next, old, 'status');
    dropForType(specOf(next), specOf(old));
    if (text(specOf(next), 'type') !== 'LoadBalancer')
      next['status'] = { ...statusOf(next), loadBalancer: {} };
  },
  validatesMeta: true,
  validateUpdate: validateChange,
  warnings,
  canonicalize: hideTrafficPolicy,
  subresources: {
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validatesMeta: true,
      validateUpdate: (next, old) => [...metaUpdate(next, old), ...validateBalancerStatus(next)],
    },
  },
};
