// The table of built-in kinds: the Go struct of each kind, and for each JSON field its protobuf number, its type, and
// how patches and apply merge it. Generated (scripts/generate.ts) by Go reflection over k8s.io/api and from the
// OpenAPI documents of kube-apiserver; never edited by hand.

/** Scalars and types with their own encoding in Kubernetes. Anything else is the name of a struct. */
export type ScalarType =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'float64'
  | 'bytes' // base64 text in JSON
  | 'Time'
  | 'MicroTime'
  | 'Duration' // metav1.Duration: "5m0s" in JSON, nanoseconds in protobuf
  | 'Quantity'
  | 'IntOrString'
  | 'RawExtension'
  | 'FieldsV1'
  | 'JSON'; // apiextensions JSON / JSONSchemaPropsOr…: any value, raw bytes in protobuf

export interface BuiltinField {
  /**
   * A ScalarType, or a key of BuiltinTable.types (`io.k8s.api.core.v1.Container`). For lists and maps: the type of
   * the element.
   */
  t: string;
  /** Protobuf field number; absent for fields of an embedded struct (see BuiltinType.embedded). */
  n?: number;
  /** Go type as encoding/json names it in errors: `int32`, `*int32`, `[]v1.Container`, `map[string]string`. */
  g?: string;
  list?: true;
  /** Together with `list`: a map whose values are lists (`extra` of the reviews). */
  map?: true;
  /** Go pointer: an explicit zero value is kept; only null or absence drops the field. */
  ptr?: true;
  /**
   * `omitempty`: omitted from JSON when empty (zero scalar, empty list or map, nil pointer; structs are never empty).
   */
  omit?: true;
  /** `omitzero`: omitted from JSON when the whole value is zero. */
  omitzero?: true;
  /** Listed in `required` of the OpenAPI schema. */
  req?: true;
  /** Values of `enum` in the OpenAPI schema. */
  enum?: string[];
  /** patchStrategy tag: `merge`, `replace`, `merge,retainKeys`, `retainKeys`. */
  ps?: string;
  /** patchMergeKey tag. */
  mk?: string;
  /** x-kubernetes-list-type. */
  lt?: 'map' | 'set' | 'atomic';
  /** x-kubernetes-list-map-keys. */
  lk?: string[];
  /** x-kubernetes-map-type. */
  mt?: 'atomic' | 'granular';
  /**
   * Protobuf only: the key of BuiltinTable.types whose message encodes one value (for a list of a map's values: the
   * whole list), where JSON has another shape. That type has `wire`.
   */
  pb?: string;
}

/**
 * How a protobuf message becomes the JSON value that it encodes. `items`: the list in field `items`. `raw`: the JSON
 * text in field `raw`. `orArray`: the list `jSONSchemas`, or if that is empty `schema`. `orStringArray`: the list
 * `property`, or if that is empty `schema`. `orBool`: `schema`, or if that is absent the bool `allows`.
 */
export type WireForm = 'items' | 'raw' | 'orArray' | 'orBool' | 'orStringArray';

export interface BuiltinType {
  /** Go name with its package, as printed by encoding/json: `v1.Container`. */
  go: string;
  /** All JSON fields, including those of inlined structs, in Go's declaration order. */
  fields: Record<string, BuiltinField>;
  /** Inlined structs that are separate messages in protobuf (Volume.volumeSource = 2). */
  embedded?: { n: number; t: string }[];
  /** x-kubernetes-map-type of the type itself. */
  mt?: 'atomic' | 'granular';
  /** This type exists only in protobuf: its fields are those of the message, and WireForm determines the JSON. */
  wire?: WireForm;
  /** x-kubernetes-unions discriminators are not kept. */
}

export interface BuiltinTable {
  /** The `k8s.io/api` version that it was generated from. */
  version: string;
  /** `batch/v1/Job` or `v1/Pod` → name of its struct. Also DeleteOptions, review kinds, Scale, Status, … */
  kinds: Record<string, string>;
  types: Record<string, BuiltinType>;
}

/**
 * Defaults of the Kubernetes scheme, per struct: field → value for an absent field (or an empty one where Go cannot
 * distinguish them). Only unconditional ones; the rest is code in the strategy of the kind.
 */
export type DefaultsTable = Record<string, Record<string, unknown>>;
