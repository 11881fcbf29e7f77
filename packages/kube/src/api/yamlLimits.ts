// Size limits for untrusted YAML. An alias repeats everything below its anchor, so a document of a few kilobytes can
// expand to millions of nodes. The expanded size is counted before the document is built.

import { type Document, isAlias, isCollection, isNode, isPair } from 'yaml';

/** Nodes that aliases may add to a document. Real documents repeat a few maps. */
export const MAX_ALIASED_NODES = 10_000;

/** Returns the document. Throws if resolving its aliases would build too many nodes or never end. */
export function boundedYaml<D extends Document>(document: D): D {
  new AliasCount().add(document.contents);
  return document;
}

class AliasCount {
  /** Number of nodes below each anchor. Undefined while they are being counted. */
  readonly #sizes = new Map<string, number | undefined>();
  #aliased = 0;

  /** Number of nodes that this one expands to. */
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
    if (size === undefined) throw new Error(`alias ${anchor} refers to itself`);
    this.#aliased += size;
    if (this.#aliased <= MAX_ALIASED_NODES) return size;
    throw new Error(`aliases expand to more than ${MAX_ALIASED_NODES} nodes`);
  }
}

const NODE_STARTS = /[\n,[{]/g;

/** An upper bound of the nodes of a document without aliases, computed without parsing. */
export const countYamlNodes = (text: string): number => 1 + (text.match(NODE_STARTS)?.length ?? 0);
