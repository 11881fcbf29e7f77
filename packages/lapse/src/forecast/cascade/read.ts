// Reads the ownership index: the metadata of everything that the garbage collector considers, a few kinds at a time.
// Sources that were already read for another purpose are not read again.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Source } from '@lapse/runtime/source';
import { computeCollected, resourceId } from '@lapse/simulation/controllers/ownerGc/kinds';
import { type Snapshot, Unreadable } from '#controllers/forecaster';
import type { Witness } from '../reading.ts';
import { Ownership } from './ownership.ts';

const AT_ONCE = 4;

export class Owners implements Witness {
  readonly #served: readonly ServedKind[];
  readonly #namespace: string | undefined;
  readonly #complete = new Set<string>();
  #ownership: Ownership;

  /**
   * With a namespace, nothing outside of it is read. Dependents are in the namespace of their owner, so nothing is
   * missed.
   */
  constructor(served: readonly ServedKind[], namespace?: string) {
    this.#served = served;
    this.#namespace = namespace;
    this.#ownership = new Ownership(served, new Set());
  }

  see(kind: Kind, object: KubeObject): void {
    const { representation: _, ...plain } = kind;
    this.#ownership.add(plain, object);
  }

  saw({ kind, namespace, labelSelector, fieldSelector }: Source): void {
    const isAll = namespace === undefined || namespace === this.#namespace;
    if (isAll && !labelSelector && !fieldSelector) this.#complete.add(resourceId(kind));
  }

  /** Reads what is missing. For namespaces to be deleted all objects must be known, so everything is read again. */
  async read(
    snapshot: Snapshot,
    endingNamespaces: ReadonlySet<string>,
    onUnread: (what: string) => void,
  ): Promise<Ownership> {
    if (endingNamespaces.size > 0) {
      this.#ownership = new Ownership(this.#served, endingNamespaces);
      this.#complete.clear();
    }
    const collected = computeCollected(this.#served);
    const isWanted = ({ namespaced }: Kind) => this.#namespace === undefined || namespaced;
    for (const kind of collected) if (!isWanted(kind)) this.#ownership.doubt(kind);
    const queue = collected.filter((kind) => isWanted(kind) && !this.#complete.has(resourceId(kind)));
    const lane = async () => {
      for (let kind = queue.shift(); kind !== undefined; kind = queue.shift())
        await this.#readKind(snapshot, kind as Kind, onUnread);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return this.#ownership;
  }

  async #readKind(snapshot: Snapshot, kind: Kind, onUnread: (what: string) => void): Promise<void> {
    const namespace = this.#namespace === undefined ? {} : { namespace: this.#namespace };
    // Adds each object as its page arrives. The page itself is not kept.
    const project = (object: KubeObject): KubeObject => {
      this.see(kind, object);
      return NOTHING;
    };
    try {
      for await (const _ of snapshot.each({
        kind,
        projection: { name: 'ownership', project },
        ...namespace,
      }));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.#ownership.doubt(kind);
      onUnread(`what is owned: ${error.message}`);
    }
  }
}

const NOTHING: KubeObject = { apiVersion: '', kind: '', metadata: {} };

export interface Reading {
  readonly snapshot: Snapshot;
  /** If set, nothing outside of this namespace is read. */
  readonly namespace?: string;
  /** Names of namespaces to be deleted. */
  readonly endingNamespaces: ReadonlySet<string>;
  readonly onUnread: (what: string) => void;
}

/** Reads everything, if nothing was read before. */
export const readOwnership = ({
  snapshot,
  namespace,
  endingNamespaces,
  onUnread,
}: Reading): Promise<Ownership> =>
  new Owners(snapshot.served, namespace).read(snapshot, endingNamespaces, onUnread);
