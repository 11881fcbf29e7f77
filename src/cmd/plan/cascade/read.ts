// Reads who owns whom: the metadata of everything that the garbage collector looks at, a few kinds at a time.

import type { Kind } from '#api/kind';
import type { KubeObject } from '#api/object';
import { type Snapshot, Unreadable } from '#controllers/foresight';
import { computeCollected } from '#standins/ownerGc/kinds';
import { Ownership } from './ownership.ts';

export interface Reading {
  readonly snapshot: Snapshot;
  /** Set: nothing outside this namespace. What is owned is where its owner is, so nothing is missed. */
  readonly namespace?: string;
  /** Names of namespaces that end. */
  readonly endingNamespaces: ReadonlySet<string>;
  readonly onUnread: (what: string) => void;
}

const AT_ONCE = 4;

export async function readOwnership(reading: Reading): Promise<Ownership> {
  const { snapshot, namespace, endingNamespaces } = reading;
  const ownership = new Ownership(snapshot.served, endingNamespaces);
  const kinds = computeCollected(snapshot.served).filter(
    ({ namespaced }) => namespace === undefined || namespaced,
  );
  const queue = [...kinds];
  const worker = async () => {
    for (let kind = queue.shift(); kind !== undefined; kind = queue.shift())
      await readKind(kind as Kind, ownership, reading);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return ownership;
}

async function readKind(
  kind: Kind,
  ownership: Ownership,
  { snapshot, namespace, onUnread }: Reading,
): Promise<void> {
  const { representation: _, ...plain } = kind;
  // Nothing is kept by the projection: every object is looked at as its page comes in.
  const projection = {
    name: 'ownership',
    project(object: KubeObject): KubeObject {
      ownership.add(plain, object);
      return NOTHING;
    },
  };
  try {
    for await (const _page of snapshot.each({
      kind,
      projection,
      ...(namespace === undefined ? {} : { namespace }),
    }));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    onUnread(`what is owned: ${error.message}`);
  }
}

const NOTHING: KubeObject = { apiVersion: '', kind: '', metadata: {} };
