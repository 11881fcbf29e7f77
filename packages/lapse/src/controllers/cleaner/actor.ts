// Determines whose rights a Cleaner is carried out with: those of a service account, of its author, or of Lapse where
// the operator configures it.

import type { Clock } from '@lapse/base/clock';
import { type Millis, millis, seconds } from '@lapse/base/instant';
import type { Json } from '@lapse/kube/api/json';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Cleaner, DeletionRecord, RecordedTarget } from '#api/cleaner';
import {
  type Account,
  accountSubject,
  describeMissing,
  impersonationOf,
  type Need,
  reviewSelf,
  reviewSubject,
  type Subject,
} from '#authors/accessReview';
import { type AuthorSeal, describeExpired, describeUnknown, type Signed } from '#authors/authorSeal';
import { type ImpersonationScope, impersonationRefusal } from '#authors/impersonation';
import { needToFind } from './needs.ts';
import type { Target } from './spec.ts';

export type Actor =
  | {
      readonly kind: 'actor';
      readonly client: Client;
      /** The subject whose rights are reviewed. Undefined: no review, Lapse acts as itself. */
      readonly subject?: Subject;
      /** The user who set `serviceAccountName`. This user must be allowed to impersonate the account. */
      readonly author?: Subject;
      /** Requests are sent with the subject's name, so the API server authorizes each of them. */
      readonly impersonates: boolean;
      readonly account?: string;
    }
  | { readonly kind: 'noActor'; readonly reason: 'Forbidden' | 'AuthorExpired'; readonly why: string };

export type Acting = Extract<Actor, { kind: 'actor' }>;

/** User name of the author on whose behalf the actor works. Undefined where no author is involved. */
export const authorOf = ({ account, author, subject }: Acting): string | undefined =>
  (account === undefined ? subject : author)?.username;

export interface ActorServices {
  readonly clock: Clock;
  /** Used for access reviews. */
  readonly client: Client;
  /** Used for requests that Lapse sends as itself. */
  readonly acting: Client;
  readonly impersonate: (account: Account) => Client;
  /** The namespaces in which service accounts may be impersonated. */
  readonly impersonation: ImpersonationScope;
  /** If set, requests for an author without an account are sent as that author. */
  readonly impersonateAuthor?: (author: Subject) => Client;
  readonly actAs: 'author' | 'controller';
  /** Used where a Cleaner sets no account. The operator chose it, so the author's right to use it is not reviewed. */
  readonly defaultAccount?: string;
  /** If true, an account in a Cleaner is used only if a verified author may impersonate it. */
  readonly requireAuthor: boolean;
  /** Undefined: authors are not verified in this installation. */
  readonly seal?: Pick<AuthorSeal, 'authorOf'>;
}

/** The part of a Cleaner that its author signs: the whole spec. */
export const signedOf = ({ metadata: { namespace, name = '' }, spec }: Cleaner): Signed => ({
  kind: 'Cleaner.cleaner.vtex.dev',
  ...(namespace === undefined ? {} : { namespace }),
  name,
  asked: spec as unknown as Json,
});

/** How long a positive access review is reused. A decision to delete always requests new reviews. */
const BELIEVED: Millis = seconds(30);
const MOST_BELIEVED = 10_000;

/** Whether a Cleaner with this account (or without one) has an actor: its author, an account, or Lapse itself. */
export function hasActor(
  { actAs, defaultAccount, requireAuthor }: Pick<ActorServices, 'actAs' | 'defaultAccount' | 'requireAuthor'>,
  account: string | undefined,
  hasAuthor: boolean,
): boolean {
  if (actAs !== 'author' || hasAuthor) return true;
  return account ? !requireAuthor : Boolean(defaultAccount);
}

export class Actors {
  readonly #services: ActorServices;
  readonly #believed = new Map<string, number>();

  constructor(services: ActorServices) {
    this.#services = services;
  }

  /**
   * Uses the account of a record, even if the spec changed since. The default account remains the operator's
   * choice.
   */
  ofRecord(cleaner: Cleaner, account: string | undefined): Promise<Actor> {
    const isDefault = account === this.#services.defaultAccount && !cleaner.spec.serviceAccountName;
    return isDefault ? this.of(cleaner) : this.of(cleaner, account);
  }

  async of(cleaner: Cleaner, account = cleaner.spec.serviceAccountName): Promise<Actor> {
    const { acting, actAs, defaultAccount, seal } = this.#services;
    const name = account || defaultAccount;
    const asks = actAs === 'author';
    const proof = asks && (!name || account) ? await seal?.authorOf(cleaner, signedOf(cleaner)) : undefined;
    const author = proof?.kind === 'author' ? proof.subject : undefined;
    if (!hasActor(this.#services, account, author !== undefined))
      return proof?.kind === 'expired'
        ? { kind: 'noActor', reason: 'AuthorExpired', why: describeExpired(proof, cleaner) }
        : { kind: 'noActor', reason: 'Forbidden', why: describeUnknown(cleaner) };
    if (name) return this.#asAccount({ namespace: cleaner.metadata.namespace ?? '', name }, author);
    if (author === undefined) return { kind: 'actor', client: acting, impersonates: false };
    const client = this.#services.impersonateAuthor?.(author);
    return { kind: 'actor', client: client ?? acting, impersonates: client !== undefined, subject: author };
  }

  /** The account a Cleaner is carried out with, if any. */
  accountOf({ spec }: Cleaner): string | undefined {
    return spec.serviceAccountName || this.#services.defaultAccount;
  }

  /** Returns why the actor may not do all of this, or undefined. `fresh`: do not use cached reviews. */
  async refusal(actor: Acting, needs: readonly Need[], fresh: boolean): Promise<string | undefined> {
    const { subject, author, account } = actor;
    if (subject === undefined) return undefined;
    const { namespace } = needs[0] ?? {};
    if (author !== undefined && account !== undefined && namespace !== undefined) {
      const impersonating = await this.#review(
        author,
        [impersonationOf({ namespace, name: account })],
        fresh,
      );
      if (impersonating !== undefined) return impersonating;
    }
    return this.#review(subject, needs, fresh);
  }

  /**
   * Returns why one request may not be sent for the actor, or undefined. No review is needed where the request
   * impersonates the subject: the API server authorizes it.
   */
  async refusalTo(
    actor: Acting,
    verb: 'create' | 'get' | 'patch' | 'delete',
    { group, resource }: Kind,
    { namespace, name }: ObjectKey,
  ): Promise<string | undefined> {
    if (actor.impersonates || actor.subject === undefined) return undefined;
    // For a create, the API server does not know the name when it authorizes the request. Without a namespace the
    // request is cluster-scoped, and rights in a namespace are not enough.
    const named = verb === 'create' ? {} : { name };
    const need = { verb, group, resource, ...named, ...(namespace ? { namespace } : {}) };
    return this.refusal(actor, [need], false);
  }

  /**
   * Returns why an object of this kind cannot be created for the actor, or undefined: the actor or Lapse itself
   * lacks the right.
   */
  async refusalToCreate(
    actor: Acting,
    { group, resource }: Kind,
    namespace: string,
  ): Promise<string | undefined> {
    const need: Need = { verb: 'create', group, resource, namespace };
    const refusal = await this.refusal(actor, [need], false);
    if (refusal !== undefined || actor.impersonates) return refusal;
    const missing = await reviewSelf(this.#services.client, [{ ...need, verb: 'get' }, need]);
    return describeMissing({ username: 'Lapse' }, missing);
  }

  /**
   * Returns why the actor may not carry out a record found in status, or undefined. Reviews the author's right to
   * impersonate the account and the right to delete every target and every Helm record, without cached reviews.
   */
  async refusalOfRecord(
    actor: Acting,
    record: DeletionRecord,
    namespace: string,
  ): Promise<string | undefined> {
    for (const objects of byResource(record).values()) {
      const [{ group, resource }] = objects as [Deletable];
      const need: Need = { verb: 'delete', group, resource, namespace };
      // One review per kind is enough where the right covers all names.
      if ((await this.refusal(actor, [need], true)) === undefined) continue;
      const named = objects.map(({ name }) => ({ ...need, name }));
      const refusal = await this.refusal(actor, named, true);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** Whether a target may be shown to the actor. Sends a review where requests do not impersonate the subject. */
  async maySee(actor: Acting, target: Target, kind: ServedKind, namespace: string): Promise<boolean> {
    if (actor.impersonates) return true;
    return (await this.refusal(actor, [needToFind(target, kind, namespace)], false)) === undefined;
  }

  /**
   * Returns why the actor may not list a kind, or undefined. Sends a review only where requests do not impersonate
   * the subject.
   */
  async refusalToList(
    actor: Acting,
    { group, resource }: Kind,
    namespace: string,
  ): Promise<string | undefined> {
    if (actor.impersonates) return undefined;
    return this.refusal(actor, [{ verb: 'list', group, resource, namespace }], false);
  }

  async #review(subject: Subject, needs: readonly Need[], fresh: boolean): Promise<string | undefined> {
    const now = this.#services.clock.elapsed();
    const asked = needs.filter((need) => fresh || !this.#isBelieved(subject, need, now));
    const missing = await reviewSubject(this.#services.client, subject, asked);
    for (const need of asked)
      if (!missing.includes(need)) this.#believe(subject, need, millis(now + BELIEVED));
    return describeMissing(subject, missing);
  }

  #asAccount(who: Account, author: Subject | undefined): Actor {
    const why = impersonationRefusal(this.#services.impersonation, who, 'cleaner');
    if (why !== undefined) return { kind: 'noActor', reason: 'Forbidden', why };
    return {
      kind: 'actor',
      client: this.#services.impersonate(who),
      subject: accountSubject(who),
      ...(author === undefined ? {} : { author }),
      impersonates: true,
      account: who.name,
    };
  }

  #isBelieved(subject: Subject, need: Need, now: number): boolean {
    return (this.#believed.get(idOf(subject, need)) ?? Number.NEGATIVE_INFINITY) > now;
  }

  #believe(subject: Subject, need: Need, until: number): void {
    const id = idOf(subject, need);
    this.#believed.delete(id);
    if (this.#believed.size >= MOST_BELIEVED) this.#believed.delete(this.#believed.keys().next().value!);
    this.#believed.set(id, until);
  }
}

type Deletable = Pick<RecordedTarget, 'group' | 'resource' | 'name'>;

function byResource({ targets, helm }: DeletionRecord): Map<string, Deletable[]> {
  const storage =
    helm?.storage.map(({ driver, name }) => ({ group: '', resource: `${driver}s`, name })) ?? [];
  return Map.groupBy([...targets, ...storage], ({ group, resource }) => `${group}/${resource}`);
}

const idOf = ({ username, groups = [] }: Subject, { verb, group, resource, namespace, name }: Need): string =>
  JSON.stringify([username, groups, verb, group, resource, namespace, name]);
