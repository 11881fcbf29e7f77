// Strategies of ServiceCIDR and IPAddress.

import { formatAddress, formatPrefix, parseSloppyAddress, parseSloppyPrefix } from '@lapse/base/ipAddress';
import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf } from '../../resources/resource.ts';
import { legacyAddress, legacyRange } from '../addresses.ts';
import { check, dnsSubdomain, IMMUTABLE, immutable, metaOf, metaUpdate } from '../checks.ts';
import { pathSegmentName, subdomainName } from '../names.ts';
import { keepMeta } from '../statusMeta.ts';
import { child, copyField, text, texts, value } from '../values.ts';

const CIDRS = 'spec.cidrs';
const cidrsOf = (object: KubeObject): string[] => texts(specOf(object), 'cidrs');

function strictRange(cidr: string, path: string): FieldError[] {
  const errors = legacyRange(cidr, path);
  if (errors.length > 0) return errors;
  const canonical = formatPrefix(parseSloppyPrefix(cidr)!);
  return canonical === cidr ? [] : [invalid(path, cidr, `must be in canonical form ("${canonical}")`)];
}

function validateCidrs(object: KubeObject): FieldError[] {
  const cidrs = cidrsOf(object);
  if (cidrs.length === 0) return [required(CIDRS, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid(CIDRS, { cidrs }, 'may only hold up to 2 values')];
  const [first, second] = cidrs.map((cidr) => parseSloppyPrefix(cidr)?.address.family);
  const repeated = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  return [
    ...cidrs.flatMap((cidr, i) => strictRange(cidr, `${CIDRS}[${i}]`)),
    ...(first !== undefined && first === second ? [invalid(CIDRS, cidrs, repeated)] : []),
  ];
}

/** A second range may be added; existing ones are immutable. */
function validateChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [after, before] = [cidrsOf(next), cidrsOf(old)];
  const isAdded = before.length === 1 && after.length === 2;
  if (!isAdded && before.length !== after.length) return [invalid(CIDRS, after, IMMUTABLE)];
  const changed = before.flatMap((cidr, i) =>
    after[i] === cidr ? [] : [invalid(`${CIDRS}[${i}]`, after[i], IMMUTABLE)],
  );
  return isAdded ? [...changed, ...validateCidrs(next)] : changed;
}

export const serviceCidrStrategy: Strategy = {
  nameRule: subdomainName,
  prepareForCreate: (object) => {
    object['status'] = {};
  },
  validate: validateCidrs,
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validateUpdate: validateChange,
  subresources: {
    status: {
      prepareForUpdate(next, old) {
        copyField(next, old, 'spec');
        keepMeta(next, old);
      },
    },
  },
};

/** The name of an IPAddress is the address in canonical form. */
function addressName(name: string): string[] {
  const [error] = legacyAddress(name, '');
  if (error) return [error.message.slice(error.message.lastIndexOf(': ') + 2)];
  const canonical = formatAddress(parseSloppyAddress(name)!);
  return canonical === name ? [] : [`must be in canonical form ("${canonical}")`];
}

function validateAddress(object: KubeObject): FieldError[] {
  const parent = child(specOf(object), 'parentRef');
  const path = 'spec.parentRef';
  if (!parent) return [required(path)];
  const group = text(parent, 'group');
  const named = (field: string, isRequired: boolean) => {
    const name = text(parent, field);
    if (name === '') return isRequired ? [required(`${path}.${field}`)] : [];
    return check(pathSegmentName, name, `${path}.${field}`);
  };
  return [
    ...(group === '' ? [] : dnsSubdomain(group, `${path}.group`)),
    ...named('resource', true),
    ...named('name', true),
    ...named('namespace', false),
  ];
}

export const ipAddressStrategy: Strategy = {
  nameRule: addressName,
  validate: validateAddress,
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, false, addressName),
    ...validateAddress(next),
    ...metaUpdate(next, old),
    ...immutable(value(specOf(next), 'parentRef'), value(specOf(old), 'parentRef'), 'spec.parentRef'),
  ],
};
