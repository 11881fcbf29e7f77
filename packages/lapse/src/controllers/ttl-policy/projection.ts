// What is cached of a target: identity, labels, the metadata that every decision reads, and the fields in the expressions
// of its policy. The projection gives the same decision as the object.

import { sharedTexts } from '@lapse/base/sharedTexts';
import type { ReadPath } from '@lapse/cel/cel';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { ObjectKey } from '@lapse/kube/api/kind';
import { asJson, asObject, type KubeObject, type ObjectMeta } from '@lapse/kube/api/object';
import { type Projection, whole } from '@lapse/runtime/source';
import { TTL_ANNOTATION } from '#expiry/expiry';
import type { CompiledPolicy } from './compile.ts';
import { EXPIRES_ANNOTATION } from './compute.ts';

/** Identifies the policy of a source. Every generation of a policy has its own source and lists its targets again. */
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

/** All labels are kept, because other policies may select by them. */
function sharedLabels(labels: Readonly<Record<string, string>>): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(labels)) setOwn(kept, share(key), share(value));
  return kept;
}

/** Copies the value at the path. Of the parents, only their existence is kept. */
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
    // A shorter path already copied the whole value.
    if (known === value) return;
    const next: JsonObject = isObject(known) ? known : {};
    if (next !== known) setOwn(target, field, next);
    source = value;
    target = next;
  }
}

/** Other changes do not affect the decision. The resourceVersion is only needed for the DELETE. */
export function targetFacts(object: KubeObject): unknown {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
