// Remembers when a transition in the future was first seen. The grace period of such a node counts from then: neither
// a clock that is ahead nor repeated evaluations may extend it.

import type { Instant } from '@lapse/base/instant';
import { MonotonicMoment, type Reading } from '@lapse/base/monotonicMoment';
import type { Node } from '@lapse/kube/api/kinds/builtin';
import { transitionOf } from './decide.ts';

/** Entries of deleted nodes are removed when there are more entries than this. */
const MOST = 10_000;

export class FutureTransitions {
  readonly #seen = new Map<string, { readonly id: string; readonly sight: MonotonicMoment }>();

  /** By node. Contains only nodes whose transition was in the future when it was first seen. */
  firstSeen(nodes: readonly Node[], reading: Reading): ReadonlyMap<string, Instant> {
    const found = new Map<string, Instant>();
    for (const node of nodes) {
      const at = this.#firstSeen(node, reading);
      if (at !== undefined) found.set(node.metadata.name!, at);
    }
    return found;
  }

  #firstSeen(node: Node, reading: Reading): Instant | undefined {
    const { name = '', uid = '' } = node.metadata;
    const transition = transitionOf(node);
    const id = `${uid} ${transition}`;
    const known = this.#seen.get(name);
    if (known?.id === id) return known.sight.at(reading);
    if (known !== undefined) this.#seen.delete(name);
    if (transition === undefined || transition <= reading.now) return undefined;
    const [oldest] = this.#seen.keys();
    if (this.#seen.size >= MOST && oldest !== undefined) this.#seen.delete(oldest);
    this.#seen.set(name, { id, sight: new MonotonicMoment(reading) });
    return reading.now;
  }
}
