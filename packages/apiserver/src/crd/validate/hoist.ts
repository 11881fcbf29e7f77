// The internal CRD has one top-level schema (and subresources, columns, selectable fields) for all versions. Before
// validation, values that all versions share move there. So errors for a CRD with one version name
// `spec.validation.openAPIV3Schema`, a field that apiextensions.k8s.io/v1 does not have.

import { equal, type Json } from '@lapse/kube/api/json';
import type { CrdSpec, PrinterColumn, Subresources, Validation, Version } from '../crd.ts';

export interface HoistedSpec extends CrdSpec {
  readonly validation: Validation | undefined;
  readonly subresources: Subresources | undefined;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields: readonly string[];
}

type Shared = 'schema' | 'subresources' | 'columns' | 'selectableFields';

export function hoist(spec: CrdSpec): HoistedSpec {
  const first = spec.versions[0];
  const common = (field: Shared) =>
    first !== undefined && spec.versions.every((v) => equal(asJson(v[field]), asJson(first[field])));
  const moved = {
    schema: common('schema'),
    subresources: common('subresources'),
    columns: common('columns'),
    selectableFields: common('selectableFields'),
  };
  return {
    ...spec,
    validation: moved.schema ? first!.schema : undefined,
    subresources: moved.subresources ? first!.subresources : undefined,
    columns: moved.columns ? first!.columns : [],
    selectableFields: moved.selectableFields ? first!.selectableFields : [],
    versions: spec.versions.map((v) => without(v, moved)),
  };
}

const asJson = (value: Version[Shared]): Json | undefined => value as unknown as Json | undefined;

const without = (version: Version, moved: Readonly<Record<Shared, boolean>>): Version => ({
  ...version,
  ...(moved.schema ? { schema: undefined } : {}),
  ...(moved.subresources ? { subresources: undefined } : {}),
  ...(moved.columns ? { columns: [] } : {}),
  ...(moved.selectableFields ? { selectableFields: [] } : {}),
});
