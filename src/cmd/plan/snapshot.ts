// What is read of a cluster for a plan: only lists, each cut down to what its asker needs as the pages come in.

import type { Kind } from '#api/kind';
import type { KubeObject } from '#api/object';
import { ApiError } from '#api/status';
import type { Client } from '#client/client';
import type { ServedKind } from '#client/discovery';
import { type Snapshot, Unreadable } from '#controllers/foresight';
import { describeSource, type Source, whole } from '#runtime/source';

/** One object that somebody asks about. */
export interface Focus {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Reads a whole source; throws Unreadable for what it may not or cannot read. */
export type Read = <T extends KubeObject>(source: Source<T>) => Promise<T[]>;

/** Lists that are kept because another rule may ask for the same; a Cleaner asks for those of its namespace. */
const MOST_KEPT = 64;

/** With a focus, rules are asked about that object only; with a namespace, nothing in others is read. */
export function createSnapshot(
  served: readonly ServedKind[],
  readAll: Read,
  focus?: Focus,
  namespace?: string,
): Snapshot {
  const read: Read = (source) => readAll(within(source, namespace));
  const kept = new Map<string, { readonly projection: unknown; readonly objects: Promise<KubeObject[]> }>();
  return {
    served,
    list<T extends KubeObject>(source: Source<T>): Promise<readonly T[]> {
      const id = describeSource(source as unknown as Source);
      const known = kept.get(id);
      if (known !== undefined && known.projection === source.projection)
        return known.objects as unknown as Promise<T[]>;
      const objects = read(source);
      kept.delete(id);
      kept.set(id, { projection: source.projection, objects: objects as unknown as Promise<KubeObject[]> });
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
      return objects;
    },
    async *each<T extends KubeObject>(source: Source<T>): AsyncGenerator<readonly T[]> {
      const narrow = focus === undefined ? source : focused(source, focus);
      if (narrow !== undefined) yield await read(narrow);
    },
  };
}

const within = <T extends KubeObject>(source: Source<T>, namespace: string | undefined): Source<T> =>
  namespace === undefined || source.namespace !== undefined || !source.kind.namespaced
    ? source
    : { ...source, namespace };

/** Undefined: nothing of the source is asked about. */
function focused<T extends KubeObject>(source: Source<T>, focus: Focus): Source<T> | undefined {
  const { kind, namespace, fieldSelector } = source;
  const isMeant = kind.group === focus.group && kind.kind === focus.kind;
  if (!isMeant || (namespace !== undefined && namespace !== focus.namespace)) return undefined;
  const named = `metadata.name=${focus.name}`;
  return {
    ...source,
    fieldSelector: fieldSelector === undefined ? named : `${fieldSelector},${named}`,
    ...(focus.namespace === undefined ? {} : { namespace: focus.namespace }),
  };
}

const PAGE = 500;

/** Sees objects as they are read, before they are cut down. */
export interface Witness {
  see(kind: Kind, object: KubeObject): void;
  /** Everything of this source was seen. */
  saw(source: Source): void;
}

export interface Watching {
  /** Told how many objects of a kind a page brought. */
  readonly onRead?: (kind: Kind, count: number) => void;
  readonly witness?: Witness;
}

export function readingFrom(client: Client, { onRead, witness }: Watching = {}): Read {
  const readAll = async <T extends KubeObject>(source: Source<T>, limit: number): Promise<T[]> => {
    const { kind, namespace, labelSelector, fieldSelector, projection } = source;
    const project = (projection?.project ?? whole.project) as (object: T) => T;
    const objects: T[] = [];
    const options = {
      limit,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
    for await (const page of client.pages(kind, options)) {
      // Pages that expire faster than they can be read: a single answer cannot.
      if (page.kind === 'expired') {
        if (limit === 0) throw page.error;
        return readAll(source, 0);
      }
      for (const item of page.items) {
        witness?.see(kind as Kind, item);
        objects.push(project(item));
      }
      onRead?.(kind as Kind, page.items.length);
    }
    witness?.saw(source as unknown as Source);
    return objects;
  };
  return async (source) => {
    try {
      return await readAll(source, PAGE);
    } catch (error) {
      throw error instanceof ApiError && REFUSALS.has(error.code)
        ? new Unreadable(`${describeSource(source as unknown as Source)}: ${error.message}`)
        : error;
    }
  };
}

/** Forbidden, gone since discovery, or not to be listed. */
const REFUSALS: ReadonlySet<number> = new Set([403, 404, 405]);
