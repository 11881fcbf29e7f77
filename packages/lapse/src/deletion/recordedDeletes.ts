// The DELETEs of one recorded decision, with the rights that the decision was made with. Results that must be reported to
// the user are return values. All other errors are thrown, and the queue retries.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { describeError, type Refused } from '#authors/authorizedClient';
import type { Budget } from './budget.ts';
import type { Expirer } from './expirer.ts';
import { objectId } from './ownDeletions.ts';

export interface RecordedDeletesOptions<Reason> {
  readonly ctx: ReconcileContext;
  readonly expirer: Expirer<Reason>;
  readonly client: Client;
  /** The operator's limit of deletions per second. */
  readonly budget?: Budget;
  /** The reconciled object. Once the cache shows that it is deleted, nothing more is deleted for it. */
  readonly decidedFor: { readonly kind: Kind; readonly uid: string | undefined };
  /** When the decision was made. */
  readonly since: Instant;
  /** Called before each DELETE that the budget allows. False: the decision no longer holds. */
  readonly mayDelete?: () => Promise<boolean>;
}

/** With a resourceVersion, the object is deleted only in this version. */
export interface RecordedObject extends ObjectKey {
  readonly uid: string;
  readonly resourceVersion?: string;
}

export type Sent =
  /** This request deleted the object, or it is terminating now. */
  | { readonly kind: 'deleted' }
  /** The object was already deleted, or another object has its name now. A kind that is not served has no objects. */
  | { readonly kind: 'gone' }
  /** The object is in another version. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'forbidden'; readonly why: string }
  | Refused;

export type Held =
  /** The budget allows the deletion only later, or (`why`) the object could not be saved in the trash. */
  | { readonly kind: 'held'; readonly until: Instant; readonly why?: string }
  /** The object that led to the decision is deleted or terminating. */
  | { readonly kind: 'unwanted' };

export class RecordedDeletes<Reason> {
  readonly #options: RecordedDeletesOptions<Reason>;

  constructor(options: RecordedDeletesOptions<Reason>) {
    this.#options = options;
  }

  /** Whether the object that led to the decision still exists, as far as the cache shows. */
  isWanted(): boolean {
    const { ctx, decidedFor } = this.#options;
    const known = ctx.cache.get(decidedFor.kind, ctx.key)?.metadata;
    return known?.uid === decidedFor.uid && known?.deletionTimestamp === undefined;
  }

  /** Deletes exactly this object, within the budget. */
  async delete(kind: Kind, object: RecordedObject, because: Reason): Promise<Sent | Held> {
    const { budget, ctx } = this.#options;
    const claim = budget?.claim(object.uid, ctx.now);
    if (claim?.kind === 'wait') return { kind: 'held', until: claim.until };
    const isAllowed = this.isWanted() && ((await this.#options.mayDelete?.()) ?? true);
    return isAllowed ? this.send(kind, object, because) : { kind: 'unwanted' };
  }

  /** Sends the DELETE without regard to the budget. */
  async send(kind: Kind, object: RecordedObject, because: Reason): Promise<Sent | Held> {
    try {
      return await this.#send(kind, object, because);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 403) return { kind: 'forbidden', why: describeError(error) };
      if (error.code === 404) return { kind: 'gone' };
      if (error.code >= 400 && error.code < 500 && error.code !== 429)
        return { kind: 'refused', why: describeError(error) };
      throw error;
    }
  }

  async #send(
    kind: Kind,
    { namespace, name, uid, resourceVersion }: RecordedObject,
    because: Reason,
  ): Promise<Sent | Held> {
    const { ctx, expirer, client, since } = this.#options;
    const metadata = {
      ...(namespace ? { namespace } : {}),
      name,
      uid,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
    const propagation = 'Background';
    const deletion = await expirer.expireRecorded(ctx, { kind, object, since, because, propagation, client });
    switch (deletion.kind) {
      case 'deleted':
      case 'terminating':
        return { kind: 'deleted' };
      case 'gone':
      case 'changed':
        return { kind: deletion.kind };
      case 'refused':
        return { kind: 'refused', why: describeError(deletion.error) };
      case 'held':
        return deletion;
      default:
        return assertNever(deletion);
    }
  }

  /** Counts a DELETE without an answer if the object is gone or terminating. Undefined: it does not exist. */
  observe(kind: Kind, key: ObjectKey, object: KubeObject | undefined): void {
    this.#options.expirer.observe(this.#options.ctx, { id: objectId(kind, key), kind, object });
  }
}
