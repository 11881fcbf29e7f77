// The deletions of this process: DELETEs that the API server accepted, and DELETEs without an answer. The result of the
// latter is seen later. If the object is gone or terminating, the DELETE took effect. If it exists in a later version, the
// DELETE failed and can no longer take effect, because it carried the resourceVersion of the decision.

import { BoundedMap } from '@lapse/base/boundedMap';
import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { compareVersions } from '@lapse/kube/api/versions';
import { TransportError } from '@lapse/kube/client/transport';

/** A DELETE and the decision that led to it. */
export interface SentDelete<Reason = unknown> {
  readonly kind: Kind;
  /** In the version that the DELETE carried as precondition. */
  readonly object: KubeObject;
  /** The deadline. */
  readonly since: Instant;
  readonly because: Reason;
}

export interface TookEffect<Reason> {
  readonly sent: SentDelete<Reason>;
  readonly outcome: 'deleted' | 'terminating';
}

interface OwnDeletion<Reason> {
  readonly uid: string;
  /** Set until the result is known. */
  readonly unanswered?: SentDelete<Reason>;
}

/** The number of deletions that are remembered. */
const MOST = 100_000;

/** Identifies an object of any kind: `jobs.batch/default/report`. All versions of a kind have the same id. */
export const objectId = (
  { resource, group }: Pick<Kind, 'resource' | 'group'>,
  { namespace = '', name }: ObjectKey,
): string => `${resource}.${group}/${namespace}/${name}`;

export const idOf = ({ kind, object }: { readonly kind: Kind; readonly object: KubeObject }): string =>
  objectId(kind, keyOf(object));

/** `seen`: the current object; undefined if it does not exist. */
export function computeResult(
  { object: { metadata } }: Pick<SentDelete, 'object'>,
  seen: KubeObject | undefined,
): 'deleted' | 'terminating' | 'failed' | 'unknown' {
  if (seen === undefined || seen.metadata.uid !== metadata.uid) return 'deleted';
  if (seen.metadata.deletionTimestamp !== undefined) return 'terminating';
  return compareVersions(seen.metadata.resourceVersion, metadata.resourceVersion) === 1
    ? 'failed'
    : 'unknown';
}

export class OwnDeletions<Reason = unknown> {
  readonly #byId = new BoundedMap<string, OwnDeletion<Reason>>(MOST);
  readonly #remembersAccepted: boolean;

  /** `remembersAccepted`: until `forget` is called, or the records are full. */
  constructor({ remembersAccepted = true }: { readonly remembersAccepted?: boolean } = {}) {
    this.#remembersAccepted = remembersAccepted;
  }

  addUnanswered(sent: SentDelete<Reason>): void {
    this.#set(idOf(sent), { uid: sent.object.metadata.uid ?? '', unanswered: sent });
  }

  /** The API server accepted a DELETE. Returns false if this is known already. */
  accept(id: string, uid: string): boolean {
    const known = this.#byId.get(id);
    if (known?.uid === uid && known.unanswered === undefined) return false;
    if (this.#remembersAccepted) this.#set(id, { uid });
    else this.#byId.delete(id);
    return true;
  }

  /** The DELETE without an answer, if there is one. */
  unanswered(id: string): SentDelete<Reason> | undefined {
    return this.#byId.get(id)?.unanswered;
  }

  /** Whether this process deleted the object or may have deleted it. Without uid: any object with this id. */
  has(id: string, uid?: string): boolean {
    const known = this.#byId.get(id);
    return known !== undefined && (uid === undefined || known.uid === uid);
  }

  isAccepted(id: string, uid: string): boolean {
    const known = this.#byId.get(id);
    return known?.uid === uid && known.unanswered === undefined;
  }

  /**
   * Resolves a DELETE without an answer, given the current object. Pass undefined only if the object is known not to
   * exist. Returns each DELETE that took effect once.
   */
  resolve(id: string, seen: KubeObject | undefined): TookEffect<Reason> | undefined {
    const sent = this.#byId.get(id)?.unanswered;
    if (sent === undefined) return undefined;
    const outcome = computeResult(sent, seen);
    if (outcome === 'unknown') return undefined;
    if (outcome === 'failed') {
      this.#byId.delete(id);
      return undefined;
    }
    this.accept(id, sent.object.metadata.uid ?? '');
    return { sent, outcome };
  }

  /** The object no longer exists, or its state cannot be read. */
  forget(id: string): void {
    this.#byId.delete(id);
  }

  forgetUnanswered(): void {
    for (const [id, { unanswered }] of this.#byId) if (unanswered !== undefined) this.#byId.delete(id);
  }

  #set(id: string, own: OwnDeletion<Reason>): void {
    this.#byId.delete(id);
    this.#byId.set(id, own);
  }
}

const isSent = (error: unknown): error is TransportError => error instanceof TransportError && error.sent;

/** The request was sent, but no response arrived. */
export const isUnanswered = (error: unknown): boolean =>
  isSent(error) && (error.failure === 'timeout' || error.failure === 'broken');

/** The request was sent and then aborted: the lease was lost, or the process stops. */
export const isCutOff = (error: unknown): boolean => isSent(error) && error.failure === 'aborted';

/** The request may have taken effect: no response arrived, or a response with code 500 or above. */
export const mayHaveActed = (error: unknown): boolean =>
  isUnanswered(error) || isCutOff(error) || (error instanceof ApiError && error.code >= 500);
