// Strategy of NetworkPolicy: ports, peers and address blocks. Policies are not enforced here.

import { isInside, parseSloppyPrefix } from '@lapse/base/ipAddress';
import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf } from '../../resources/resource.ts';
import { legacyRange } from '../addresses.ts';
import { check, oneOf, portNumber } from '../checks.ts';
import { validateLabelSelector } from '../labelSelector.ts';
import { portName, subdomainName } from '../names.ts';
import { child, ensure, has, list, number, objects, part, text, texts, value } from '../values.ts';

const TYPES = ['Ingress', 'Egress'];

function validate(policy: KubeObject): FieldError[] {
  const spec = specOf(policy);
  const types = texts(spec, 'policyTypes');
  const direction = (field: string, peers: string) =>
    objects(spec, field).flatMap((rule, i) => [
      ...objects(rule, 'ports').flatMap((p, n) => validatePort(p, `spec.${field}[${i}].ports[${n}]`)),
      ...objects(rule, peers).flatMap((p, n) => validatePeer(p, `spec.${field}[${i}].${peers}[${n}]`)),
    ]);
  return [
    ...validateLabelSelector(part(spec, 'podSelector'), 'spec.podSelector'),
    ...direction('ingress', 'from'),
    ...direction('egress', 'to'),
    ...typeErrors(types),
  ];
}

const typeErrors = (types: string[]): FieldError[] =>
  types.length > TYPES.length
    ? [invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')]
    : types.flatMap((t, i) => (TYPES.includes(t) ? [] : [notSupported(`spec.policyTypes[${i}]`, t, TYPES)]));

function validatePort(port: JsonObject, path: string): FieldError[] {
  const errors = has(port, 'protocol')
    ? oneOf(text(port, 'protocol'), ['TCP', 'UDP', 'SCTP'], `${path}.protocol`)
    : [];
  const [single, end] = [value(port, 'port'), number(port, 'endPort')];
  const refuseEnd = (why: string) => invalid(`${path}.endPort`, end, why);
  if (single === undefined)
    return end === undefined
      ? errors
      : [...errors, refuseEnd('may not be specified when `port` is not specified')];
  if (typeof single === 'string')
    return [
      ...errors,
      ...(end === undefined ? [] : [refuseEnd('may not be specified when `port` is non-numeric')]),
      ...check(portName, single, `${path}.port`),
    ];
  errors.push(...portNumber(Number(single), `${path}.port`));
  if (end === undefined) return errors;
  if (end < Number(single))
    errors.push(invalid(`${path}.endPort`, Number(single), 'must be greater than or equal to `port`'));
  return [...errors, ...portNumber(end, `${path}.endPort`)];
}

function validatePeer(peer: JsonObject, path: string): FieldError[] {
  const block = child(peer, 'ipBlock');
  const selectors = ['podSelector', 'namespaceSelector'].filter((f) => child(peer, f));
  const errors = selectors.flatMap((f) => validateLabelSelector(child(peer, f), `${path}.${f}`));
  if (block) errors.push(...validateBlock(block, `${path}.ipBlock`));
  if (!block && selectors.length === 0) errors.push(required(path, 'must specify a peer'));
  if (block && selectors.length > 0)
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  return errors;
}

function validateBlock(block: JsonObject, path: string): FieldError[] {
  const cidr = text(block, 'cidr');
  if (cidr === '') return [required(`${path}.cidr`)];
  const errors = legacyRange(cidr, `${path}.cidr`);
  const range = parseSloppyPrefix(cidr);
  if (!range) return errors;
  texts(block, 'except').forEach((except, i) => {
    const at = `${path}.except[${i}]`;
    errors.push(...legacyRange(except, at));
    const inner = parseSloppyPrefix(except);
    if (inner && !isInside(inner, range))
      errors.push(invalid(at, except, 'must be a strict subset of `cidr`'));
  });
  return errors;
}

export const networkPolicyStrategy: Strategy = {
  nameRule: subdomainName,
  generation: true,
  applyDefaults(policy) {
    const spec = ensure(policy, 'spec');
    if (list(spec, 'policyTypes').length > 0) return;
    spec['policyTypes'] = list(spec, 'egress').length > 0 ? TYPES.slice() : ['Ingress'];
  },
  validate,
  validateUpdate: validate,
};
