// Bounds for YAML that others wrote. A document of a few kilobytes can stand for millions of nodes, because an alias
// repeats everything below its anchor; so what a document becomes is counted before it is built.

import { type Document, isAlias, isCollection, isPair, type Node } from 'yaml';

/** Nodes that aliases may add to a document. Real documents repeat a handful of maps. */
export const MAX_ALIASED_NODES = 10_000;

export class ExcessiveAliases extends Error {
  constructor() {
    super(`aliases repeat more than ${MAX_ALIASED_NODES} nodes`);
    this.name = 'ExcessiveAliases';
  }
}

/** The document itself; throws ExcessiveAliases when resolving its aliases would build too much. */
export function boundedYaml<D extends Document.Parsed | Document>(document: D): D {
  if (document.contents === null) return document;
  const sizes = new Map<string, number>();
  let aliased = 0;
  const sizeOf = (node: unknown): number => {
    if (isAlias(node)) {
      const size = sizes.get(node.source) ?? 1;
      aliased += size;
      if (aliased > MAX_ALIASED_NODES) throw new ExcessiveAliases();
      return size;
    }
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value);
    if (!isCollection(node)) return remember(node as Node | null, 1);
    let size = 1;
    for (const item of node.items) size += sizeOf(item);
    return remember(node, size);
  };
  const remember = (node: Node | null, size: number): number => {
    const anchor = node !== null && typeof node === 'object' && 'anchor' in node ? node.anchor : undefined;
    if (typeof anchor === 'string') sizes.set(anchor, size);
    return size;
  };
  sizeOf(document.contents);
  return document;
}

const NODE_STARTS = /[\n,[{]/g;

/** An upper bound of the nodes of a document without aliases, found without parsing it. */
export const countYamlNodes = (text: string): number => 1 + (text.match(NODE_STARTS)?.length ?? 0);
