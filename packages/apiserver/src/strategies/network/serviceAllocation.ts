// Allocates the IP family, cluster IP and node ports of a Service before validation, or keeps the existing ones.

import { parseSloppyAddress } from '@lapse/base/ipAddress';
import { internalError } from '@lapse/kube/api/errors';
import { type FieldError, invalid, invalidError } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type StrategyContext, specOf } from '../../resources/resource.ts';
import {
  assign,
  copyField,
  flag,
  has,
  list,
  number,
  objects,
  stringMap,
  text,
  texts,
  value,
} from '../values.ts';
import { AllocationError, claimAddress, claimPort, nextAddress, nextPort, takenBy } from './allocation.ts';
import { needsHealthCheck, needsNodePort, validateAddresses } from './serviceFields.ts';

const refuse = (service: KubeObject, errors: FieldError[]) =>
  invalidError({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors);

export function allocate(service: KubeObject, old: KubeObject | undefined, context: StrategyContext): void {
  const spec = specOf(service);
  const before = old ? specOf(old) : undefined;
  if (before) keepAllocated(spec, before);
  joinAddresses(spec, before);
  if (text(spec, 'type') !== 'ExternalName') {
    chooseFamilies(service, before);
    allocateAddress(service, before, context);
  }
  allocatePorts(service, old, context);
}

/** Keeps allocated values that the client omits. */
function keepAllocated(spec: JsonObject, before: JsonObject): void {
  const external = (s: JsonObject) => text(s, 'type') === 'ExternalName';
  if (!external(spec) && !external(before)) {
    if (text(spec, 'clusterIP') === '') copyField(spec, before, 'clusterIP');
    if (list(spec, 'clusterIPs').length === 0) copyField(spec, before, 'clusterIPs');
  }
  if (needsNodePort(spec) && needsNodePort(before)) keepNodePorts(spec, before);
  if (needsHealthCheck(spec) && needsHealthCheck(before) && (number(spec, 'healthCheckNodePort') ?? 0) === 0)
    copyField(spec, before, 'healthCheckNodePort');
}

function keepNodePorts(spec: JsonObject, before: JsonObject): void {
  const used = (s: JsonObject) => objects(s, 'ports').map((p) => number(p, 'nodePort') ?? 0);
  const both = used(before).filter((p) => used(spec).includes(p));
  for (const port of objects(spec, 'ports')) {
    if ((number(port, 'nodePort') ?? 0) !== 0) continue;
    const same = objects(before, 'ports').findLast((p) => text(p, 'name') === text(port, 'name'));
    const kept = number(same, 'nodePort') ?? 0;
    if (kept !== 0 && !both.includes(kept)) port['nodePort'] = kept;
  }
}

/** clusterIP is the first of clusterIPs; the one that the client changed takes precedence. */
function joinAddresses(spec: JsonObject, before: JsonObject | undefined): void {
  const [single, all] = [text(spec, 'clusterIP'), texts(spec, 'clusterIPs')];
  if (!before) {
    if (single !== '' && all.length === 0) spec['clusterIPs'] = [single];
    return;
  }
  const [was, had] = [text(before, 'clusterIP'), texts(before, 'clusterIPs')];
  if (had.length > 0 && all.length === 0 && was === single) spec['clusterIPs'] = had;
  if (was === single || all.join() !== had.join()) return;
  assign(spec, 'clusterIPs', single === '' ? undefined : [single]);
}

const isHeadless = (spec: JsonObject) => text(spec, 'clusterIP') === 'None';

function chooseFamilies(service: KubeObject, before: JsonObject | undefined): void {
  const spec = specOf(service);
  const selectorless = Object.keys(stringMap(spec, 'selector')).length === 0;
  if (!has(spec, 'ipFamilyPolicy')) {
    const kept = value(before, 'ipFamilyPolicy');
    assign(
      spec,
      'ipFamilyPolicy',
      kept ?? (isHeadless(spec) && selectorless ? 'RequireDualStack' : 'SingleStack'),
    );
  }
  refuseIf(service, validateAddresses(spec));
  refuseIf(service, familyErrors(spec));
  const policy = text(spec, 'ipFamilyPolicy');
  const families = texts(spec, 'ipFamilies');
  if (families.length === 0) families.push('IPv4');
  if (isHeadless(spec) && selectorless) {
    if (families.length < 2 && policy !== 'SingleStack')
      families.push(families[0] === 'IPv4' ? 'IPv6' : 'IPv4');
  } else refuseIf(service, unservedErrors(policy, families));
  spec['ipFamilies'] = families;
}

function refuseIf(service: KubeObject, errors: FieldError[]): void {
  if (errors.length > 0) throw refuse(service, errors);
}

function familyErrors(spec: JsonObject): FieldError[] {
  const [ips, families] = [texts(spec, 'clusterIPs'), texts(spec, 'ipFamilies')];
  const policy = text(spec, 'ipFamilyPolicy');
  const errors: FieldError[] = [];
  const single = (what: string) =>
    invalid(
      'spec.ipFamilyPolicy',
      policy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  if (policy === 'SingleStack' && ips.length === 2) errors.push(single('cluster IPs'));
  if (policy === 'SingleStack' && families.length === 2) errors.push(single('IP families'));
  if (ips[0] === 'None') return errors;
  ips.forEach((ip, i) => {
    if (i < families.length) return;
    if (parseSloppyAddress(ip)?.family === 6)
      errors.push(invalid(`spec.clusterIPs[${i}]`, ips, 'IPv6 is not configured on this cluster'));
    else spec['ipFamilies'] = [...texts(spec, 'ipFamilies'), 'IPv4'];
  });
  return errors;
}

function unservedErrors(policy: string, families: string[]): FieldError[] {
  const why = 'this cluster is not configured for dual-stack services';
  return [
    ...(policy === 'RequireDualStack' ? [invalid('spec.ipFamilyPolicy', policy, why)] : []),
    ...families.flatMap((family, i) =>
      family === 'IPv4' ? [] : [invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
    ),
  ];
}

function allocateAddress(
  service: KubeObject,
  before: JsonObject | undefined,
  context: StrategyContext,
): void {
  const spec = specOf(service);
  const wanted = texts(spec, 'clusterIPs')[0] ?? '';
  const had = text(before, 'type') === 'ExternalName' ? '' : (texts(before, 'clusterIPs')[0] ?? '');
  if (wanted === 'None' || (wanted !== '' && wanted === had)) return;
  // A set cluster IP is immutable; validation reports the error.
  if (before && had !== '' && had !== 'None') return;
  const taken = takenBy(context.list('services'), service.metadata.uid);
  try {
    if (wanted === '') {
      const ip = nextAddress(taken, context.random);
      spec['clusterIP'] = ip;
      spec['clusterIPs'] = [ip];
    } else claimAddress(wanted, taken);
  } catch (cause) {
    if (!(cause instanceof AllocationError)) throw cause;
    if (wanted === '')
      throw internalError(
        `failed to allocate a serviceIP for Service "${service.metadata.name}": ${cause.message}`,
      );
    const why = `failed to allocate IP ${wanted}: ${cause.message}`;
    throw refuse(service, [invalid('spec.clusterIPs', texts(spec, 'clusterIPs'), why)]);
  }
}

const wantsNodePorts = (spec: JsonObject): boolean =>
  text(spec, 'type') === 'NodePort' ||
  (text(spec, 'type') === 'LoadBalancer' && flag(spec, 'allocateLoadBalancerNodePorts') !== false);

function allocatePorts(service: KubeObject, old: KubeObject | undefined, context: StrategyContext): void {
  const spec = specOf(service);
  const ports = new Set(takenBy(context.list('services'), old?.metadata.uid ?? service.metadata.uid).ports);
  ports.delete(0);
  const byPort = new Map<number, number>();
  if (needsNodePort(spec))
    objects(spec, 'ports').forEach((port, i) => {
      const asked = number(port, 'nodePort') ?? 0;
      if (asked === 0 && !wantsNodePorts(spec)) return;
      const shared = byPort.get(number(port, 'port') ?? 0);
      const chosen = asked !== 0 ? asked : (shared ?? nextPort(ports, context.random));
      // The same port with another protocol shares its node port.
      if (asked !== 0 && asked !== shared) claim(service, asked, ports, `spec.ports[${i}].nodePort`);
      port['nodePort'] = chosen;
      ports.add(chosen);
      byPort.set(number(port, 'port') ?? 0, chosen);
    });
  if (needsHealthCheck(spec) && (number(spec, 'healthCheckNodePort') ?? 0) === 0)
    spec['healthCheckNodePort'] = nextPort(ports, context.random);
}

function claim(service: KubeObject, port: number, taken: ReadonlySet<number>, path: string): void {
  try {
    claimPort(port, taken);
  } catch (cause) {
    if (!(cause instanceof AllocationError)) throw cause;
    throw refuse(service, [invalid(path, port, cause.message)]);
  }
}
