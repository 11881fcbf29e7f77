// Validation of device claims: those of a Pod, and the references in containers.

import { duplicate, type FieldError, invalid, notFound, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { dnsLabel, dnsSubdomain } from '../checks.ts';
import { has, objects, text } from '../values.ts';

const SOURCES = ['resourceClaimName', 'resourceClaimTemplateName'];

export function validatePodClaims(spec: JsonObject, path: string): FieldError[] {
  const names = new Set<string>();
  return objects(spec, 'resourceClaims').flatMap((claim, i) => {
    const at = `${path}.resourceClaims[${i}]`;
    const given = SOURCES.filter((f) => has(claim, f));
    const errors = nameErrors(text(claim, 'name'), names, `${at}.name`);
    if (given.length > 1) {
      const why = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      errors.push(invalid(at, internalClaim(claim), why));
    }
    if (given.length === 0) {
      const why = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
      errors.push(invalid(at, internalClaim(claim), why));
    }
    return [...errors, ...given.flatMap((f) => dnsSubdomain(text(claim, f), `${at}.${f}`))];
  });
}

function nameErrors(name: string, names: Set<string>, path: string): FieldError[] {
  if (name === '') return [required(path)];
  if (names.has(name)) return [duplicate(path, name)];
  names.add(name);
  return dnsLabel(name, path);
}

/** A claim as printed from the internal type of Kubernetes. */
const internalClaim = (claim: JsonObject) => ({
  Name: text(claim, 'name'),
  ResourceClaimName: claim['resourceClaimName'] ?? null,
  ResourceClaimTemplateName: claim['resourceClaimTemplateName'] ?? null,
});

/** A container may refer to a whole claim or to its requests, each once. */
export function validateClaimRefs(
  resources: JsonObject,
  known: readonly string[],
  path: string,
): FieldError[] {
  const seen = new Set<string>();
  return objects(resources, 'claims').flatMap((claim, i) => {
    const at = `${path}.claims[${i}]`;
    const [name, request] = [text(claim, 'name'), text(claim, 'request')];
    if (name === '') return [required(at)];
    return [
      ...repeatErrors(name, request, seen, at),
      ...(known.includes(name) ? [] : [unknown(name, known, at)]),
    ];
  });
}

function repeatErrors(name: string, request: string, seen: Set<string>, path: string): FieldError[] {
  if (seen.has(name)) return [duplicate(path, name)];
  const key = request === '' ? name : `${name}/${request}`;
  const errors = request === '' ? [] : dnsLabel(request, `${path}.request`);
  if (seen.has(key)) errors.push(duplicate(path, key));
  else if (request === '')
    for (const other of seen) if (other.startsWith(`${name}/`)) errors.push(duplicate(path, name));
  seen.add(key);
  return errors;
}

function unknown(name: string, known: readonly string[], path: string): FieldError {
  const { message, ...rest } = notFound(path, name);
  const which = known.length === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  return { ...rest, message: `${message}: must be one of the names in pod.spec.resourceClaims${which}` };
}
