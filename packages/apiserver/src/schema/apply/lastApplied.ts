// kubectl's annotation for client-side apply: its fields can be taken over without a conflict. It is kept up to date
// while it exists.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { sortKeys } from '@lapse/kube/api/sortKeys';
import { compareFields } from './compareFields.ts';
import type { FieldSet } from './fieldSet.ts';
import type { FieldType } from './fieldType.ts';
import { ownedFields } from './ownedFields.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const { metadata } = object;
  return isObject(metadata) && isObject(metadata['annotations']) ? metadata['annotations'] : undefined;
}

export const hasLastApplied = (object: JsonObject): boolean => Boolean(annotationsOf(object)?.[ANNOTATION]);

/** The fields on which the annotation and the object agree; undefined without an annotation. */
export function allowedConflicts(
  type: FieldType,
  apiVersion: string,
  live: JsonObject,
): FieldSet | undefined {
  const text = annotationsOf(live)?.[ANNOTATION];
  const last = typeof text === 'string' ? parsed(text) : undefined;
  if (!isObject(last) || last['apiVersion'] !== apiVersion) return undefined;
  try {
    const { modified, added, removed } = compareFields(type, last, live);
    return ownedFields(type, last).difference(modified).difference(added).difference(removed);
  } catch {
    return undefined;
  }
}

function parsed(text: string): Json | undefined {
  try {
    return parseJson(Buffer.from(text), { maxDepth: 1000 }).value;
  } catch {
    return undefined;
  }
}

/** Stores the configuration, without the annotation, in the annotation. */
export function withLastApplied(object: JsonObject, config: JsonObject): void {
  const annotations = annotationsOf(object);
  if (annotations === undefined) return;
  const { metadata } = config;
  const own = isObject(metadata) && isObject(metadata['annotations']) ? metadata['annotations'] : undefined;
  const { [ANNOTATION]: _, ...rest } = own ?? {};
  const plain =
    own === undefined ? config : { ...config, metadata: { ...(metadata as JsonObject), annotations: rest } };
  annotations[ANNOTATION] = `${writeJson(sortKeys(plain))}\n`;
}
