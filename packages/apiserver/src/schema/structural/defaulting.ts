// Applies the defaults of a schema to existing objects. A missing object is only created by its own default. Null
// counts as missing where the schema does not allow it. Modifies the value.

import { clone, getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { additionalNode, type SchemaNode } from './node.ts';
import { prune } from './prune.ts';

export type Defaulter = (value: Json) => void;

/** Compiled once per schema; subtrees without defaults cost nothing. */
export function compileDefaults(node: SchemaNode | undefined): Defaulter {
  const defaults = compile(node);
  return defaults === undefined ? () => {} : (value) => defaults.fill(value);
}

function compile(node: SchemaNode | undefined): NodeDefaults | undefined {
  if (node === undefined) return undefined;
  const defaults = new NodeDefaults(node);
  return defaults.isEmpty ? undefined : defaults;
}

class NodeDefaults {
  readonly #node: SchemaNode;
  /** Properties with a default of their own. */
  readonly #presets: readonly (readonly [string, SchemaNode])[];
  /** Properties with defaults below them. */
  readonly #below = new Map<string, NodeDefaults>();
  readonly #items: ElementDefaults | undefined;
  readonly #others: ElementDefaults | undefined;

  constructor(node: SchemaNode) {
    this.#node = node;
    this.#presets = [...node.properties].filter(([, property]) => property.default !== undefined);
    for (const [name, property] of node.properties) {
      const below = compile(property);
      if (below !== undefined) this.#below.set(name, below);
    }
    this.#items = elementDefaults(node.items);
    this.#others = elementDefaults(additionalNode(node));
  }

  get isEmpty(): boolean {
    const inside = this.#items !== undefined || this.#others !== undefined;
    return this.#presets.length === 0 && this.#below.size === 0 && !inside;
  }

  fill(value: Json): void {
    if (Array.isArray(value)) this.#fillItems(value);
    else if (isObject(value)) this.#fillObject(value);
  }

  #fillItems(list: Json[]): void {
    const items = this.#items;
    if (items === undefined) return;
    for (let i = 0; i < list.length; i++) list[i] = items(list[i]!);
  }

  #fillObject(value: JsonObject): void {
    for (const [name, property] of this.#presets) {
      const present = getOwn(value, name);
      const missing = present === undefined || (present === null && !property.nullable);
      if (missing) setOwn(value, name, clone(property.default!));
    }
    if (this.#below.size === 0 && this.#others === undefined) return;
    for (const key of Object.keys(value)) {
      if (this.#node.properties.has(key)) this.#below.get(key)?.fill(value[key]!);
      else if (this.#others !== undefined) setOwn(value, key, this.#others(value[key]!));
    }
  }
}

/** Items and map values: null becomes the default, all others are completed. */
type ElementDefaults = (value: Json) => Json;

function elementDefaults(node: SchemaNode | undefined): ElementDefaults | undefined {
  const below = compile(node);
  const preset = node === undefined || node.nullable ? undefined : node.default;
  if (below === undefined && preset === undefined) return undefined;
  return (value) => {
    const element = value === null && preset !== undefined ? clone(preset) : value;
    below?.fill(element);
    return element;
  };
}

/** Prunes all defaults of the schema. Modifies the schema. */
export function pruneDefaults(node: SchemaNode): boolean {
  let changed = false;
  if (node.default !== undefined) {
    const pruned = clone(node.default);
    changed = prune(pruned, node).length > 0;
    if (changed) node.default = pruned;
  }
  const inner = [...node.properties.values(), additionalNode(node), node.items];
  for (const one of inner) if (one !== undefined && pruneDefaults(one)) changed = true;
  return changed;
}
