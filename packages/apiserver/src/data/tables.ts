// The generated tables, read once on first use, not at import.

import { readFileSync } from 'node:fs';
import type { KubeObject } from '@lapse/kube/api/object';
import type { BuiltinTable, DefaultsTable } from '#schema/builtinTable';
import type { SubresourceInfo } from '../resources/resource.ts';

const once = <T>(make: () => T): (() => T) => {
  let value: T | undefined;
  return () => (value ??= make());
};

const read = <T>(path: string): T => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as T;

/** Go structs of the built-in kinds. */
export const builtinTable = once(() => read<BuiltinTable>('../schema/data/types.json'));
/** Defaults of the built-in kinds. */
export const defaultsTable = once(() => read<DefaultsTable>('../schema/data/defaults.json'));

export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly storageVersionHash?: string;
  readonly subresources: readonly SubresourceInfo[];
}

export interface ServedData {
  readonly version: Readonly<Record<string, string>>;
  readonly groups: readonly { name: string; versions: string[] }[];
  /** Order in discovery, by APIService (`v1.batch`). */
  readonly priorities: Readonly<Record<string, readonly [group: number, version: number]>>;
  readonly resources: readonly ServedResource[];
}

/** The discovery data of kube-apiserver for the resources served here. */
export const servedData = once(() => read<ServedData>('./resources.json'));

export interface ColumnData {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

/** Table columns per resource (`jobs.batch`). */
export const columnsData = once(() =>
  read<Readonly<Record<string, readonly ColumnData[]>>>('./columns.json'),
);

/** The objects that a new cluster has, per stored resource (`clusterroles.rbac.authorization.k8s.io`). */
export const bootstrapData = once(() =>
  read<Readonly<Record<string, readonly KubeObject[]>>>('./bootstrap.json'),
);
