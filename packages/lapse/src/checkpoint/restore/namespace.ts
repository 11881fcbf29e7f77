// Moves an object into another namespace: its own namespace and the service accounts of its RoleBindings. Other
// references to the old namespace are reported but not changed, because only their author knows their meaning.

import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { typeOf } from './strip.ts';

export interface Move {
  readonly from: string;
  readonly to: string;
}

/** Returns a copy in the other namespace; a Namespace object gets the new name. */
export function moveObject(object: KubeObject, { from, to }: Move): KubeObject {
  const moved = clone(asJson(object));
  const { metadata } = moved;
  if (!isObject(metadata)) return asObject(moved);
  if (metadata.namespace === from) metadata.namespace = to;
  const type = typeOf(object);
  if (type === '/Namespace' && metadata.name === from) metadata.name = to;
  if (type === 'rbac.authorization.k8s.io/RoleBinding') moveSubjects(moved, { from, to });
  return asObject(moved);
}

function moveSubjects({ subjects }: JsonObject, { from, to }: Move): void {
  if (!Array.isArray(subjects)) return;
  for (const subject of subjects) {
    if (!isObject(subject)) continue;
    if (subject.kind === 'ServiceAccount' && subject.namespace === from) subject.namespace = to;
    const prefix = `system:serviceaccounts:${from}`;
    if (subject.kind === 'Group' && subject.name === prefix) subject.name = `system:serviceaccounts:${to}`;
  }
}

/** The maximum number of reported paths. */
const MOST_MENTIONS = 5;
const MAX_DEPTH = 64;

/** Paths that still refer to the old namespace: a field `namespace`, or the DNS name of a Service there. */
export function mentionsOf(object: KubeObject, namespace: string): string[] {
  const address = new RegExp(`\\.${namespace.replaceAll('.', '\\.')}\\.svc(\\.|:|/|$)`);
  const found: string[] = [];
  for (const { path, key, text } of textsOf(asJson(object), '', '')) {
    if ((key === 'namespace' && text === namespace) || address.test(text)) found.push(path);
    if (found.length >= MOST_MENTIONS) break;
  }
  return found;
}

interface Text {
  readonly path: string;
  /** The name of the field; for an item of a list, of the list. */
  readonly key: string;
  readonly text: string;
}

function* textsOf(value: Json | undefined, path: string, key: string): Generator<Text> {
  if (path.split('.').length > MAX_DEPTH) return;
  if (typeof value === 'string') yield { path, key, text: value };
  else if (Array.isArray(value))
    for (const [i, item] of value.entries()) yield* textsOf(item, `${path}[${i}]`, key);
  else if (isObject(value))
    for (const [name, item] of Object.entries(value))
      yield* textsOf(item, path === '' ? name : `${path}.${name}`, name);
}
