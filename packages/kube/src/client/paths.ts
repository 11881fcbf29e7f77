// Builds request paths from kinds and keys. Every segment is validated: an empty name would turn the deletion of one
// object into the deletion of the whole collection.

import { apiVersionOfKind, describeKind, type Kind, type ObjectKey } from '#api/kind';

type QueryValue = string | number | boolean | undefined;

/** Like the API server: a segment is never `.` or `..` and contains no slash or percent sign. */
function segment(kind: Kind, what: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new Error(`${describeKind(kind)}: the ${what} is missing`);
  if (value === '.' || value === '..' || /[/%]/.test(value))
    throw new Error(`${describeKind(kind)}: ${JSON.stringify(value)} cannot be a ${what}`);
  return encodeURIComponent(value);
}

const root = (kind: Kind): string =>
  kind.group === '' ? `/api/${kind.version}` : `/apis/${apiVersionOfKind(kind)}`;

/** All objects of a kind, in one namespace or in the whole cluster. */
export function collectionPath(kind: Kind, namespace?: string): string {
  if (namespace === undefined || namespace === '') return `${root(kind)}/${kind.resource}`;
  if (!kind.namespaced) throw new Error(`${describeKind(kind)} is cluster-scoped and has no namespace`);
  return `${root(kind)}/namespaces/${segment(kind, 'namespace', namespace)}/${kind.resource}`;
}

/** The collection an object is created in. */
export function creationPath(kind: Kind, namespace?: string): string {
  if (kind.namespaced) segment(kind, 'namespace', namespace);
  return collectionPath(kind, namespace);
}

/** One object, or one of its subresources. */
export function objectPath(kind: Kind, key: ObjectKey, subresource?: string): string {
  const path = `${creationPath(kind, key.namespace)}/${segment(kind, 'name', key.name)}`;
  return subresource === undefined ? path : `${path}/${segment(kind, 'subresource', subresource)}`;
}

/** `?a=1&b=x`, or the empty string. Undefined values are omitted. */
export function queryText(query: Readonly<Record<string, QueryValue>>): string {
  let text = '';
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(String(value))}`;
  }
  return text;
}
