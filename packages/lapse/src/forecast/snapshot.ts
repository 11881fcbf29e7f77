// Reads a cluster for a plan: only lists, each reduced to the requested fields as the pages arrive.

import { BoundedMap } from '@lapse/base/boundedMap';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { describeSource, type Source } from '@lapse/runtime/source';
import type { Snapshot } from '#controllers/forecaster';
import type { Read } from './reading.ts';

export type { Read } from './reading.ts';
export { readingFrom } from './reading.ts';

/** The object to be explained. */
export interface Focus {
  readonly group: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Number of cached lists, which other rules may request again. A Cleaner requests those of its namespace. */
const MOST_KEPT = 64;

/** With a focus, rules are evaluated for that object only. With a namespace, nothing in others is read. */
export function createSnapshot(
  served: readonly ServedKind[],
  read: Read,
  focus?: Focus,
  namespace?: string,
): Snapshot {
  const kept = new BoundedMap<
    string,
    { readonly projection: unknown; readonly objects: Promise<KubeObject[]> }
  >(MOST_KEPT);
  return {
    served,
    list<T extends KubeObject>(source: Source<T>): Promise<readonly T[]> {
      const id = describeSource(source as unknown as Source);
      const known = kept.get(id);
      if (known !== undefined && known.projection === source.projection)
        return known.objects as unknown as Promise<T[]>;
      const objects = read(within(source, namespace));
      kept.set(id, { projection: source.projection, objects: objects as unknown as Promise<KubeObject[]> });
      return objects;
    },
    async *each<T extends KubeObject>(source: Source<T>): AsyncGenerator<readonly T[]> {
      const narrow = focus === undefined ? source : focused(source, focus);
      if (narrow === undefined) return;
      const meant = within(narrow, namespace);
      if (read.pages === undefined) yield await read(meant);
      else yield* read.pages(meant);
    },
  };
}

const within = <T extends KubeObject>(source: Source<T>, namespace: string | undefined): Source<T> =>
  namespace === undefined || source.namespace !== undefined || !source.kind.namespaced
    ? source
    : { ...source, namespace };

/** Undefined: the focus excludes the source. */
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
