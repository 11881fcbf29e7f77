// Bounds for YAML that others wrote. A document of a few kilobytes can stand for millions of nodes, because an alias
// repeats everything below its anchor; so what a document becomes is counted before it is built.

import { type Document, isAlias, isCollection, isNode, isPair } from 'yaml';

/** Nodes that aliases may add to a document. Real documents repeat a handful of maps. */
export const MAX_ALIASED_NODES = 10_000;

/** The document itself; throws when resolving its aliases would build too much, or would never end. */
export function boundedYaml<D extends Document>(document: D): D {
  new AliasCount().add(document.contents);
  return document;
}

class AliasCount {
  /** Nodes below each anchor; undefined while they are being counted. */
  readonly #sizes = new Map<string, number | undefined>();
  #aliased = 0;

  /** The nodes that this one becomes. */
  add(node: unknown): number {
    if (isAlias(node)) return this.#addAlias(node.source);
    if (isPair(node)) return this.add(node.key) + this.add(node.value);
    const anchor = isNode(node) && 'anchor' in node ? node.anchor : undefined;
    if (anchor !== undefined) this.#sizes.set(anchor, undefined);
    let size = 1;
    if (isCollection(node)) for (const item of node.items) size += this.add(item);
    if (anchor !== undefined) this.#sizes.set(anchor, size);
    return size;
  }

  #addAlias(anchor: string): number {
    // An alias without an anchor is reported when the document is built.
    const size = this.#sizes.has(anchor) ? this.#sizes.get(anchor) : 1;
    if (size === undefined) throw new Error(`the alias ${anchor} is part of what it repeats`);
    this.#aliased += size;
    if (this.#aliased <= MAX_ALIASED_NODES) return size;
    throw new Error(`aliases repeat more than ${MAX_ALIASED_NODES} nodes`);
  }
}

const NODE_STARTS = /[\n,[{]/g;

/** An upper bound of the nodes of a document without aliases, found without parsing it. */
export const countYamlNodes = (text: string): number => 1 + (text.match(NODE_STARTS)?.length ?? 0);
