// What the cache keeps of a Cleaner. While status reports that it waits for its TTL, that is its identity and its
// deadline: nothing else is read before, and the reconcile at the deadline reads the object from the API server.

import { type Instant, instant, parseTime, plus } from '@lapse/base/instant';
import { stringInterner } from '@lapse/base/stringInterner';
import { apiVersionOf, type ObjectMeta } from '@lapse/kube/api/object';
import { type Projection, whole } from '@lapse/runtime/source';
import { Cleaner } from '#api/cleaner';
import { readDelay } from './delay.ts';
import { readTtl } from './spec.ts';
import { readyOf } from './status.ts';
import { withoutLastApplied } from './targets.ts';

const share = stringInterner();
const API_VERSION = apiVersionOf(Cleaner);

/**
 * A cached Cleaner that waits. It has neither spec nor status: never decide on it, never write its status. A single
 * string takes half the memory of an object with fields, and nearly all Cleaners of a cluster wait.
 */
class WaitingCleaner {
  readonly #namespace: string;
  readonly #text: string;

  constructor({ name, namespace = '', uid, resourceVersion, generation }: ObjectMeta, until: Instant) {
    this.#namespace = share(namespace);
    // Not a template literal: V8 would keep references to its parts.
    this.#text = [name, uid, resourceVersion, generation, until].join(' ');
  }

  get apiVersion(): string {
    return API_VERSION;
  }

  get kind(): string {
    return Cleaner.kind;
  }

  get metadata(): ObjectMeta {
    const [name, uid, resourceVersion, generation] = this.#text.split(' ') as [
      string,
      string,
      string,
      string,
    ];
    return { name, namespace: this.#namespace, uid, resourceVersion, generation: Number(generation) };
  }

  get until(): Instant {
    return instant(Number(this.#text.slice(this.#text.lastIndexOf(' '))));
  }
}

/**
 * The end of the TTL, if status reports it for the current spec and no deletion is in progress. A Cleaner that an
 * annotation delays is cached whole: a change of the annotation triggers a reconcile.
 */
function computeWait(cleaner: Cleaner): Instant | undefined {
  const { metadata, status } = cleaner;
  const isReported =
    readyOf(cleaner)?.reason === 'NotExpired' && status?.observedGeneration === metadata.generation;
  if (!isReported || status?.deletion !== undefined || metadata.deletionTimestamp !== undefined)
    return undefined;
  if (readDelay(metadata).kind !== 'none') return undefined;
  const ttl = readTtl(cleaner);
  const created = parseTime(metadata.creationTimestamp ?? '');
  return ttl === undefined || !Number.isFinite(created) ? undefined : plus(created, ttl);
}

export const cleanerProjection: Projection<Cleaner> = {
  name: 'cleaner',
  project(cleaner) {
    const until = computeWait(cleaner);
    if (until === undefined) {
      const kept = whole.project(cleaner) as Cleaner;
      return { ...kept, metadata: withoutLastApplied(kept.metadata) };
    }
    return new WaitingCleaner(cleaner.metadata, until) as unknown as Cleaner;
  },
};

/** The deadline of a cached Cleaner that waits. Undefined: the cache has the complete object. */
export const waitOf = (cached: Cleaner | undefined): Instant | undefined =>
  (cached as unknown) instanceof WaitingCleaner ? (cached as unknown as WaitingCleaner).until : undefined;
