// The types that all Kubernetes objects share.

import type { Json, JsonObject } from './json.ts';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: JsonObject[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** The same object as plain JSON, for generic code. */
export const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject;
export const asObject = (json: Json): KubeObject => json as unknown as KubeObject;

export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

export interface GroupVersionResource {
  group: string;
  version: string;
  resource: string;
}

/** `apps/v1`, or `v1` for the core group. */
export const apiVersionOf = (gv: { group: string; version: string }): string =>
  gv.group === '' ? gv.version : `${gv.group}/${gv.version}`;

/** Splits `apps/v1` or `v1`. Undefined if the text has more than one slash. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split('/');
  if (parts.length === 1) return { group: '', version: parts[0]! };
  if (parts.length === 2) return { group: parts[0]!, version: parts[1]! };
  return undefined;
}
