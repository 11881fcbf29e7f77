// What is kept of a target in memory: its identity and labels, what the kernel reads of metadata, and the fields the
// expressions of its policy name. A decision about the projection and about the object is the same.

import { sharedTexts } from '@lapse/base/sharedTexts';
import type { ReadPath } from '@lapse/cel/cel';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { ObjectKey } from '@lapse/kube/api/kind';
import { asJson, asObject, type KubeObject, type ObjectMeta } from '@lapse/kube/api/object';
import { type Projection, whole } from '@lapse/runtime/source';
import { TTL_ANNOTATION } from '#deletion/expiry';
import type { CompiledPolicy } from './compile.ts';
import { EXPIRES_ANNOTATION } from './compute.ts';

/** The key of a source: which policy it feeds. Every generation of a policy has its own, and reads its targets anew. */
export interface PolicyProjection extends Projection<KubeObject> {
  readonly policy: ObjectKey;
}

export const isPolicyProjection = (
  projection: Projection<KubeObject> | undefined,
): projection is PolicyProjection => projection !== undefined && 'policy' in projection;

export function buildProjection(policy: CompiledPolicy, key: ObjectKey): PolicyProjection {
  const { reads } = policy;
  return {
    name: `targets of ${policy.name}`,
    policy: key,
    project: (object) => (reads === undefined ? whole.project(object) : projectFields(object, reads)),
  };
}

const KEPT_META = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'finalizers',
] as const satisfies (keyof ObjectMeta)[];
const KEPT_ANNOTATIONS = [TTL_ANNOTATION, EXPIRES_ANNOTATION];

function projectFields(object: KubeObject, reads: readonly ReadPath[]): KubeObject {
  const from = asJson(object);
  const kept: JsonObject = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: keptMetadata(object),
  };
  for (const path of reads) copyPath(from, kept, path);
  return asObject(kept);
}

function keptMetadata({ metadata }: KubeObject): JsonObject {
  const kept: JsonObject = {};
  for (const field of KEPT_META) if (metadata[field] !== undefined) kept[field] = metadata[field] as Json;
  const { annotations = {} } = metadata;
  const own = KEPT_ANNOTATIONS.filter((key) => Object.hasOwn(annotations, key));
  if (own.length > 0) kept['annotations'] = Object.fromEntries(own.map((key) => [key, annotations[key]]));
  if (metadata.labels !== undefined) kept['labels'] = sharedLabels(metadata.labels);
  return kept;
}

const share = sharedTexts();

/** Other policies may select by them, whatever this one does. */
function sharedLabels(labels: Readonly<Record<string, string>>): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(labels)) setOwn(kept, share(key), share(value));
  return kept;
}

/** Copies what is at the path, and of everything above it only that it is there. */
function copyPath(from: JsonObject, to: JsonObject, path: ReadPath): void {
  let source = from;
  let target = to;
  for (const [i, field] of path.entries()) {
    const value = getOwn(source, field);
    if (value === undefined) return;
    if (i === path.length - 1 || !isObject(value)) {
      setOwn(target, field, value);
      return;
    }
    const known = getOwn(target, field);
    // Kept already, as a whole, by a shorter path.
    if (known === value) return;
    const next: JsonObject = isObject(known) ? known : {};
    if (next !== known) setOwn(target, field, next);
    source = value;
    target = next;
  }
}

/** An update of anything else changes no decision. Not the version: it is for the delete, not for the decision. */
export function targetFacts(object: KubeObject): unknown {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
