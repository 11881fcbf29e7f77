// Prepares captured objects for a restore: what to apply, in which order, and what to skip. Pure.

import type { KubeObject } from '@lapse/kube/api/object';
import { parseApiVersion } from '@lapse/kube/api/object';
import { isTooDeep } from '../depth.ts';
import { describeIdentity } from '../identity.ts';
import { mentionsOf, moveObject } from './namespace.ts';
import { orderForRestore } from './order.ts';
import { CapturedIndex, computeSkip, type SkipOptions } from './skip.ts';
import { stripObject, typeOf } from './strip.ts';

export interface PrepareOptions extends SkipOptions {
  /** The namespace of the capture. */
  readonly source: string;
  /** The target namespace; default: `source`. */
  readonly target?: string;
}

export interface Prepared {
  /** `apps/v1 Deployment shop/web`, with the target namespace. */
  readonly what: string;
  readonly object: KubeObject;
  /** Why the object is skipped. */
  readonly skip?: string;
  /** Notes for the user. */
  readonly notes: readonly string[];
}

/** Returns the objects in the order of the restore. */
export function prepareRestore(objects: readonly KubeObject[], options: PrepareOptions): Prepared[] {
  const captured = new CapturedIndex();
  for (const object of objects) captured.add(object);
  const seen = new Set<string>();
  const prepared = objects.map((object) => {
    const one = prepare(object, captured, options);
    if (one.skip !== undefined) return one;
    if (seen.has(one.what)) return { ...one, skip: 'it is in the checkpoint twice' };
    seen.add(one.what);
    return one;
  });
  return orderForRestore(prepared, ({ object }) => object);
}

function prepare(captured: KubeObject, index: CapturedIndex, options: PrepareOptions): Prepared {
  const { source, target = source } = options;
  const foreign = foreignReason(captured, source);
  if (foreign !== undefined) return { what: describe(captured), object: captured, skip: foreign, notes: [] };
  if (isTooDeep(captured))
    return { what: describe(captured), object: captured, skip: 'it is nested too deeply', notes: [] };
  let object = stripObject(captured);
  if (target !== source) object = moveObject(object, { from: source, to: target });
  const skip = computeSkip(captured, index, options);
  const notes =
    target === source ? [] : mentionsOf(object, source).map((path) => `${path} still names ${source}`);
  if (typeOf(object) === '/PersistentVolumeClaim')
    notes.push('the claim is restored with a new, empty volume');
  return { what: describe(object), object, notes, ...(skip === undefined ? {} : { skip }) };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function describe({ apiVersion, kind, metadata }: KubeObject): string {
  return describeIdentity({
    apiVersion,
    kind,
    namespace: textOf(metadata.namespace),
    name: textOf(metadata.name) || '(no name)',
  });
}

/** A checkpoint contains one namespace; a capture writes no other objects. */
function foreignReason(object: KubeObject, source: string): string | undefined {
  const { name, namespace } = object.metadata;
  if (textOf(name) === '') return 'it has no name';
  if (parseApiVersion(object.apiVersion) === undefined) return 'its apiVersion cannot be read';
  if (namespace === source) return undefined;
  if (typeOf(object) === '/Namespace' && name === source && namespace === undefined) return undefined;
  return `it is not of the namespace ${source}, which the checkpoint is of`;
}
