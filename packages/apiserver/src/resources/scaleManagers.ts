// managedFields of writes through /scale: recorded on the Scale and transferred to the object.

import type { JsonObject } from '@lapse/kube/api/json';
import { apiVersionOf, asJson, type KubeObject } from '@lapse/kube/api/object';
import { BuiltinFieldTypes } from '#schema/apply/builtinFieldType';
import { type Endpoint, trackUpdate } from '#schema/apply/fieldManager';
import { FieldSet } from '#schema/apply/fieldSet';
import { fieldElement } from '#schema/apply/pathElement';
import {
  managersOfScale,
  managersOfScaled,
  type ReplicasPaths,
  SCALE_VERSION,
} from '#schema/apply/scaleManagers';
import type { Call } from '../context.ts';
import { builtinTable, defaultsTable } from '../data/tables.ts';
import { writeOf } from '../metadata/managedFields.ts';

const SCALE = 'io.k8s.api.autoscaling.v1.Scale';

let endpoint: Endpoint | undefined;

/** A Scale as endpoint for field management. */
export function scaleAsEndpoint(): Endpoint {
  if (endpoint !== undefined) return endpoint;
  const types = new BuiltinFieldTypes(builtinTable(), defaultsTable());
  const empty = { ...types.zero(SCALE), apiVersion: SCALE_VERSION, kind: 'Scale' };
  const type = types.type(SCALE);
  endpoint = { type, empty, apiVersion: SCALE_VERSION, subresource: 'scale', ignored: FieldSet.EMPTY };
  return endpoint;
}

/** Replicas at the same path in every version. */
export const replicasAt = (apiVersions: readonly string[], ...path: readonly string[]): ReplicasPaths =>
  new Map(apiVersions.map((apiVersion) => [apiVersion, path.map(fieldElement)]));

/** The Scale of an object, with its managers. */
export function managedScale(scale: KubeObject, { metadata }: KubeObject, paths: ReplicasPaths): KubeObject {
  const entries = managersOfScale(metadata.managedFields, paths);
  if (entries === undefined) return scale;
  return { ...scale, metadata: { ...scale.metadata, managedFields: entries } };
}

export interface ScaleChange {
  /** The current object. */
  readonly old: KubeObject;
  /** Its Scale, with managers. */
  readonly live: KubeObject;
  /** The sent Scale. */
  readonly sent: KubeObject;
  readonly fieldManager: string;
  /** The sent Scale already has its managers. */
  readonly tracked?: boolean;
}

/** Records in `next`, which is `old` with other replicas, which manager wrote them. */
export function recordScaleManager(
  call: Call,
  { old, live, sent, fieldManager, tracked }: ScaleChange,
  paths: ReplicasPaths,
  next: KubeObject,
): void {
  const write = { ...writeOf(call, fieldManager), live: asJson(live) };
  const scale = tracked ? sent.metadata.managedFields : trackUpdate(scaleAsEndpoint(), write, asJson(sent));
  const before = old.metadata.managedFields as JsonObject[] | undefined;
  const entries = managersOfScaled({ before, scale, apiVersion: apiVersionOf(call.resource) }, paths);
  if (entries === undefined) delete next.metadata.managedFields;
  else next.metadata.managedFields = entries;
}
