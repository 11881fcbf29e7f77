// Custom kinds of Lapse: their descriptor and their CustomResourceDefinition. The CRDs carry a label that marks them as
// owned by Lapse. A CRD of the same name without this label belongs to another product and is not changed.

import type { JsonObject } from '../json.ts';
import type { Kind } from '../kind.ts';
import type { KubeObject } from '../object.ts';

export const OURS = { 'app.kubernetes.io/part-of': 'lapse' } as const;

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0: the column is shown only with `-o wide`. */
  readonly priority?: number;
}

export interface CustomKind<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly crd: KubeObject;
}

export interface CustomKindOptions<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** OpenAPI v3 schemas of `spec` and `status`. `status` becomes a subresource. */
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  /** Validation rules for the whole object. */
  readonly rules?: readonly JsonObject[];
  /** Default: spec is required. */
  readonly required?: readonly string[];
  readonly description: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly columns?: readonly Column[];
}

export function defineCustomKind<T extends KubeObject>(options: CustomKindOptions<T>): CustomKind<T> {
  const { kind, columns = [] } = options;
  const version: JsonObject = {
    name: kind.version,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schemaOf(options) },
    ...(options.status === undefined ? {} : { subresources: { status: {} } }),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns.map((column) => ({ ...column })) }),
  };
  const crd: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.resource}.${kind.group}`, labels: { ...OURS } },
    spec: {
      group: kind.group,
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      names: namesOf(options),
      versions: [version],
    },
  };
  return { kind, crd };
}

function schemaOf<T extends KubeObject>(options: CustomKindOptions<T>): JsonObject {
  const { spec, status, rules = [], required = ['spec'], description } = options;
  return {
    type: 'object',
    description,
    required: [...required],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec,
      ...(status === undefined ? {} : { status }),
    },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': [...rules] }),
  };
}

function namesOf<T extends KubeObject>(options: CustomKindOptions<T>): JsonObject {
  const { kind, singular = kind.kind.toLowerCase(), shortNames = [], categories = [] } = options;
  return {
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    plural: kind.resource,
    singular,
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  };
}
