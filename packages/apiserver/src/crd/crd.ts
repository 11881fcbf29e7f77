// Parses a CustomResourceDefinition: every field is present, with empty values for missing ones. The typed codec has
// already checked the types.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';

/** The resource name of CRDs in the store. */
export const CRDS = 'customresourcedefinitions.apiextensions.k8s.io';

export interface Names {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** Undefined when the CRD has none. */
  readonly labelSelectorPath: string | undefined;
}

export interface Subresources {
  readonly status: boolean;
  readonly scale: ScaleSubresource | undefined;
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

/** `schema` of a version: `openAPIV3Schema` may be missing even when `schema` is set. */
export interface Validation {
  readonly openAPIV3Schema: JsonObject | undefined;
}

export interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  readonly deprecationWarning: string | undefined;
  readonly schema: Validation | undefined;
  readonly subresources: Subresources | undefined;
  readonly columns: readonly PrinterColumn[];
  /** JSON paths. */
  readonly selectableFields: readonly string[];
}

export interface CrdSpec {
  readonly group: string;
  readonly names: Names;
  readonly scope: string;
  readonly versions: readonly Version[];
  /** The list is present, possibly empty. */
  readonly hasVersions: boolean;
  readonly conversion: JsonObject | undefined;
  readonly preserveUnknownFields: boolean;
}

export interface Crd {
  /** `widgets.example.com` */
  readonly name: string;
  readonly uid: string;
  readonly spec: CrdSpec;
  readonly acceptedNames: Names;
  readonly storedVersions: readonly string[];
}

export function readCrd(object: KubeObject): Crd {
  const status = objectAt(object as unknown as JsonObject, 'status');
  return {
    name: object.metadata.name ?? '',
    uid: object.metadata.uid ?? '',
    spec: readSpec(objectAt(object as unknown as JsonObject, 'spec')),
    acceptedNames: readNames(objectAt(status, 'acceptedNames')),
    storedVersions: textsAt(status, 'storedVersions'),
  };
}

export function readSpec(spec: JsonObject): CrdSpec {
  return {
    group: textAt(spec, 'group'),
    names: readNames(objectAt(spec, 'names')),
    scope: textAt(spec, 'scope'),
    versions: objectsAt(spec, 'versions').map(readVersion),
    hasVersions: Array.isArray(spec['versions']),
    conversion: isObject(spec['conversion']) ? spec['conversion'] : undefined,
    preserveUnknownFields: spec['preserveUnknownFields'] === true,
  };
}

export const readNames = (names: JsonObject): Names => ({
  plural: textAt(names, 'plural'),
  singular: textAt(names, 'singular'),
  kind: textAt(names, 'kind'),
  listKind: textAt(names, 'listKind'),
  shortNames: textsAt(names, 'shortNames'),
  categories: textsAt(names, 'categories'),
});

function readVersion(version: JsonObject): Version {
  const { schema, subresources, deprecationWarning } = version;
  return {
    name: textAt(version, 'name'),
    served: version['served'] === true,
    storage: version['storage'] === true,
    deprecated: version['deprecated'] === true,
    deprecationWarning: typeof deprecationWarning === 'string' ? deprecationWarning : undefined,
    schema: isObject(schema) ? readValidation(schema) : undefined,
    subresources: isObject(subresources) ? readSubresources(subresources) : undefined,
    columns: objectsAt(version, 'additionalPrinterColumns').map(readColumn),
    selectableFields: objectsAt(version, 'selectableFields').map((f) => textAt(f, 'jsonPath')),
  };
}

const readValidation = ({ openAPIV3Schema }: JsonObject): Validation => ({
  openAPIV3Schema: isObject(openAPIV3Schema) ? openAPIV3Schema : undefined,
});

const readSubresources = ({ status, scale }: JsonObject): Subresources => ({
  status: isObject(status),
  scale: isObject(scale) ? readScale(scale) : undefined,
});

const readScale = (scale: JsonObject): ScaleSubresource => ({
  specReplicasPath: textAt(scale, 'specReplicasPath'),
  statusReplicasPath: textAt(scale, 'statusReplicasPath'),
  labelSelectorPath: typeof scale['labelSelectorPath'] === 'string' ? scale['labelSelectorPath'] : undefined,
});

const readColumn = (column: JsonObject): PrinterColumn => ({
  name: textAt(column, 'name'),
  type: textAt(column, 'type'),
  format: textAt(column, 'format'),
  description: textAt(column, 'description'),
  priority: typeof column['priority'] === 'number' ? column['priority'] : 0,
  jsonPath: textAt(column, 'jsonPath'),
});

export const storageVersion = (spec: CrdSpec): Version | undefined => spec.versions.find((v) => v.storage);

export const textAt = (object: JsonObject, key: string): string => {
  const value = object[key];
  return typeof value === 'string' ? value : '';
};

export const textsAt = (object: JsonObject, key: string): string[] =>
  listAt(object, key).filter((v): v is string => typeof v === 'string');

export const objectAt = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isObject(value) ? value : {};
};

export const objectsAt = (object: JsonObject, key: string): JsonObject[] =>
  listAt(object, key).filter((v): v is JsonObject => isObject(v));

const listAt = (object: JsonObject, key: string): Json[] => {
  const value = object[key];
  return Array.isArray(value) ? value : [];
};
