// Sends requests with the rights of a service account, of an author, or of Lapse itself. Results that must be reported to
// the user (forbidden, kind not served) are return values. All other errors are thrown, and the queue retries.

import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { metadataOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { type Account, impersonationOf, type Need, type Subject } from './accessReview.ts';
import type { ReviewCache } from './reviewCache.ts';

export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'forbidden'; readonly why: string }
  | { readonly kind: 'notServed' };

/** Forbidden, or rejected by an admission webhook, a policy or validation. */
export interface Refused {
  readonly kind: 'refused';
  readonly why: string;
}

/** Messages of the API server contain identities, never object contents. They are truncated nevertheless. */
const LONGEST = 300;
export const describeError = (error: Error): string => error.message.slice(0, LONGEST);

/** The labels as a selector string. */
export const selectorOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',');

/** Whose rights are used. */
export interface Authorization {
  readonly client: Client;
  /** The subject whose rights are reviewed. Undefined: no review, Lapse acts as itself. */
  readonly subject?: Subject;
  /** The user who named `account`. This user must be allowed to impersonate it. */
  readonly author?: Subject;
  readonly account?: Account;
  /** Requests are sent with the subject's name, so the API server authorizes each of them. */
  readonly impersonates: boolean;
}

export interface ListOptions {
  readonly namespace: string;
  readonly labelSelector: string;
  /** More objects are not read, except for one that shows that there are more. */
  readonly most: number;
}

export class AuthorizedClient {
  readonly #authorization: Authorization;
  readonly #reviews: ReviewCache;
  readonly #signal: AbortSignal;

  constructor(authorization: Authorization, reviews: ReviewCache, signal: AbortSignal) {
    this.#authorization = authorization;
    this.#reviews = reviews;
    this.#signal = signal;
  }

  get client(): Client {
    return this.#authorization.client;
  }

  /** The name of the service account, if one is used. */
  get account(): string | undefined {
    return this.#authorization.account?.name;
  }

  /** User name of the author on whose behalf requests are sent. Undefined where no author is involved. */
  get author(): string | undefined {
    const { account, author, subject } = this.#authorization;
    return (account === undefined ? subject : author)?.username;
  }

  /** Returns why not all of this is allowed, or undefined. `fresh`: do not use cached reviews. */
  async refusal(needs: readonly Need[], fresh: boolean): Promise<string | undefined> {
    const { subject, author, account } = this.#authorization;
    if (subject === undefined || needs.length === 0) return undefined;
    const ofAuthor =
      author === undefined || account === undefined
        ? undefined
        : await this.#reviews.refusal(author, [impersonationOf(account)], fresh);
    return ofAuthor ?? this.#reviews.refusal(subject, needs, fresh);
  }

  /**
   * Returns why one request may not be sent, or undefined. No review is needed where the request impersonates the
   * subject: the API server authorizes it. Omit the name for `create`, which the API server authorizes without one.
   */
  async refusalTo(
    verb: 'create' | 'get' | 'list' | 'patch' | 'delete',
    { group, resource }: Kind,
    { namespace, name }: Partial<ObjectKey>,
  ): Promise<string | undefined> {
    if (this.#authorization.impersonates) return undefined;
    // Without a namespace the request is cluster-scoped, and rights in a namespace are not enough.
    const where = { ...(name ? { name } : {}), ...(namespace ? { namespace } : {}) };
    return this.refusal([{ verb, group, resource, ...where }], false);
  }

  /** Returns why objects of a kind cannot be created, or undefined: the subject or Lapse itself lacks the right. */
  async refusalToCreate({ group, resource }: Kind, namespace: string): Promise<string | undefined> {
    const need: Need = { verb: 'create', group, resource, namespace };
    const refusal = await this.refusal([need], false);
    if (refusal !== undefined || this.#authorization.impersonates) return refusal;
    return this.#reviews.refusalOfLapse([{ ...need, verb: 'get' }, need]);
  }

  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey): Promise<Read<T | undefined>> {
    return attempt(() => this.client.get(kind, key, { signal: this.#signal }));
  }

  /** Identity, labels and annotations only. */
  getMetadata(kind: Kind, key: ObjectKey): Promise<Read<KubeObject | undefined>> {
    return this.get(metadataOf(kind) as Kind, key);
  }

  list<T extends KubeObject>(kind: Kind<T>, { most, ...where }: ListOptions): Promise<Read<T[]>> {
    return attempt(async () => {
      const items: T[] = [];
      for await (const page of this.client.pages(kind, { ...where, signal: this.#signal })) {
        if (page.kind === 'expired') throw page.error;
        items.push(...page.items);
        if (items.length > most) return items.slice(0, most + 1);
      }
      return items;
    });
  }

  create<T extends KubeObject>(
    kind: Kind<T>,
    object: T,
  ): Promise<{ readonly kind: 'created'; readonly object: T } | Refused> {
    return unlessRefused(async () => {
      const answer = await this.client.create(kind, object, { signal: this.#signal });
      return answer.kind === 'created' ? answer : refused(answer.error);
    });
  }

  /** Merge-patches an object only if it is unchanged since it was read. */
  patchUnchanged(
    kind: Kind,
    { namespace, name, uid, resourceVersion }: ObjectKey & { uid: string; resourceVersion?: string },
    patch: object,
  ): Promise<{ readonly kind: 'patched' | 'changed' } | Refused> {
    return unlessRefused(async () => {
      const answer = await this.client.patch(
        kind,
        { ...(namespace === undefined ? {} : { namespace }), name },
        { type: 'merge', patch },
        {
          ifUid: uid,
          ...(resourceVersion === undefined ? {} : { ifVersion: resourceVersion }),
          signal: this.#signal,
        },
      );
      if (answer.kind === 'patched') return { kind: 'patched' };
      return answer.kind === 'invalid' ? refused(answer.error) : { kind: 'changed' };
    });
  }
}

const refused = (error: Error): Refused => ({ kind: 'refused', why: describeError(error) });

async function attempt<T>(read: () => Promise<T>): Promise<Read<T>> {
  try {
    return { kind: 'read', value: await read() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 403) return { kind: 'forbidden', why: describeError(error) };
    if (error.code === 404) return { kind: 'notServed' };
    throw error;
  }
}

async function unlessRefused<T>(write: () => Promise<T>): Promise<T | Refused> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof ApiError && error.code < 500 && error.code !== 429) return refused(error);
    throw error;
  }
}
