// Validation of the rules of webhooks and policies.

import { type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { oneOf } from '../checks.ts';
import { has, text, texts } from '../values.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

export function validateOperationsRule(rule: JsonObject, path: string): FieldError[] {
  const operations = texts(rule, 'operations');
  return [
    ...listErrors(operations, `${path}.operations`, 'operations'),
    ...operations.flatMap((o, i) =>
      OPERATIONS.includes(o) ? [] : [notSupported(`${path}.operations[${i}]`, o, OPERATIONS)],
    ),
    ...listErrors(texts(rule, 'apiGroups'), `${path}.apiGroups`, 'API groups'),
    ...listErrors(texts(rule, 'apiVersions'), `${path}.apiVersions`, 'API versions'),
    ...texts(rule, 'apiVersions').flatMap((v, i) =>
      v === '' ? [required(`${path}.apiVersions[${i}]`)] : [],
    ),
    ...resourceErrors(texts(rule, 'resources'), `${path}.resources`),
    ...(has(rule, 'scope') ? oneOf(text(rule, 'scope'), SCOPES, `${path}.scope`) : []),
  ];
}

/** At least one value; `*` must be the only one. */
function listErrors(values: string[], path: string, noun: string): FieldError[] {
  if (values.length === 0) return [required(path)];
  return values.length > 1 && values.includes('*')
    ? [invalid(path, values, `if '*' is present, must not specify other ${noun}`)]
    : [];
}

function resourceErrors(resources: string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const anySub = new Set<string>();
  const anyResource = new Set<string>();
  let lastPlainIsNamed = false;
  resources.forEach((entry, i) => {
    const at = `${path}[${i}]`;
    if (entry === '') {
      errors.push(required(at));
      return;
    }
    const slash = entry.indexOf('/');
    if (slash < 0) {
      lastPlainIsNamed = entry !== '*';
      return;
    }
    const [resource, sub] = [entry.slice(0, slash), entry.slice(slash + 1)];
    if (anySub.has(resource))
      errors.push(invalid(at, entry, `if '${resource}/*' is present, must not specify ${entry}`));
    if (anyResource.has(sub))
      errors.push(invalid(at, entry, `if '*/${sub}' is present, must not specify ${entry}`));
    if (sub === '*') anySub.add(resource);
    if (resource === '*') anyResource.add(sub);
  });
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && lastPlainIsNamed) {
    const why = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalid(path, resources, why));
  }
  return errors;
}
