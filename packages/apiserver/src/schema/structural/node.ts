// The structure of a schema for traversal: properties, items and extensions. Value constraints (minimum, pattern,
// anyOf …) stay in the JSON of the schema, where validator.ts compiles them.

import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';

export interface SchemaNode {
  readonly json: JsonObject;
  /** Empty when the schema has no type. */
  readonly type: string;
  readonly nullable: boolean;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** The schema of all other keys, or whether they are allowed. */
  readonly additional: SchemaNode | boolean | undefined;
  readonly items: SchemaNode | undefined;
  /** Mutable because it is pruned when the schema is compiled for serving. */
  default: Json | undefined;
  readonly preserve: boolean;
  readonly embedded: boolean;
  readonly listType: string | undefined;
  readonly listKeys: readonly string[];
}

export const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((v) => typeof v === 'string') : [];

export function readNode(json: JsonObject): SchemaNode {
  const { items, additionalProperties } = json;
  const listType = json['x-kubernetes-list-type'];
  return {
    json,
    type: textOf(json.type),
    nullable: json.nullable === true,
    properties: readProperties(json.properties),
    additional: isObject(additionalProperties)
      ? readNode(additionalProperties)
      : asBoolean(additionalProperties),
    items: isObject(items) ? readNode(items) : undefined,
    default: json.default ?? undefined,
    preserve: json['x-kubernetes-preserve-unknown-fields'] === true,
    embedded: json['x-kubernetes-embedded-resource'] === true,
    listType: typeof listType === 'string' ? listType : undefined,
    listKeys: textsOf(json['x-kubernetes-list-map-keys']),
  };
}

const asBoolean = (value: Json | undefined): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

function readProperties(properties: Json | undefined): Map<string, SchemaNode> {
  const out = new Map<string, SchemaNode>();
  if (!isObject(properties)) return out;
  for (const name of Object.keys(properties)) {
    const property = getOwn(properties, name);
    if (isObject(property)) out.set(name, readNode(property));
  }
  return out;
}

/** The same schema for a whole resource: it need not declare apiVersion, kind and metadata. */
export const asResource = (node: SchemaNode): SchemaNode =>
  node.embedded ? node : { ...node, embedded: true };

/** The schema of undeclared keys, if any. */
export const additionalNode = ({ additional }: SchemaNode): SchemaNode | undefined =>
  typeof additional === 'object' ? additional : undefined;

/** The schema of the value under `key`. */
export const nodeOfKey = (node: SchemaNode, key: string): SchemaNode | undefined =>
  node.properties.get(key) ?? additionalNode(node);

/** Joins a key or `[index]` to a path; the root is the empty string. */
export const childPath = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);
