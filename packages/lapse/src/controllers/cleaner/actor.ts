// Whose rights a Cleaner is carried out with: a service account's, its author's, or ours where an operator says so.

import type { Clock } from '@lapse/base/clock';
import { type Millis, millis, seconds } from '@lapse/base/instant';
import type { Json } from '@lapse/kube/api/json';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Cleaner, DeletionRecord, RecordedTarget } from '#api/cleaner';
import {
  describeImpersonationOff,
  type ImpersonationScope,
  isImpersonationAllowed,
} from '#deletion/impersonation';
import {
  type Account,
  accountSubject,
  describeNeeds,
  impersonationOf,
  type Need,
  reviewSelf,
  reviewSubject,
  type Subject,
} from '#deletion/rights';
import { type AuthorSeal, describeExpired, describeUnknown, type Signed } from '#deletion/rightsAuthor';
import { needToFind } from './needs.ts';
import type { Target } from './spec.ts';

export type Actor =
  | {
      readonly kind: 'actor';
      readonly client: Client;
      /** Whose rights are reviewed; unset: nobody's, we act as ourselves. */
      readonly subject?: Subject;
      /** Who named the account, and must be allowed to act as it. */
      readonly author?: Subject;
      /** The requests themselves carry the subject's name: the server judges each of them. */
      readonly impersonates: boolean;
      readonly account?: string;
    }
  | { readonly kind: 'nobody'; readonly reason: 'Forbidden' | 'AuthorExpired'; readonly why: string };

export type Acting = Extract<Actor, { kind: 'actor' }>;

/** User name of the author who answers for what the actor does; undefined where no author takes part. */
export const authorOf = ({ account, author, subject }: Acting): string | undefined =>
  (account === undefined ? subject : author)?.username;

export interface ActorServices {
  readonly clock: Clock;
  /** For reviews. */
  readonly client: Client;
  /** For what is done as ourselves. */
  readonly acting: Client;
  readonly impersonate: (account: Account) => Client;
  /** Where accounts may be impersonated. */
  readonly impersonation: ImpersonationScope;
  /** Set: what is done for an author without an account is sent as that author. */
  readonly impersonateAuthor?: (author: Subject) => Client;
  readonly actAs: 'author' | 'controller';
  /** Used where a Cleaner names none. An operator chose it, so nobody is asked whether they may use it. */
  readonly defaultAccount?: string;
  /** An account that a Cleaner names counts only with an author who may act as it. */
  readonly requireAuthor: boolean;
  /** Unset: nobody reviews authors here. */
  readonly seal?: Pick<AuthorSeal, 'authorOf'>;
}

/** What the author of a Cleaner answers for: all of its spec. */
export const signedOf = ({ metadata: { namespace, name = '' }, spec }: Cleaner): Signed => ({
  kind: 'Cleaner.cleaner.vtex.dev',
  ...(namespace === undefined ? {} : { namespace }),
  name,
  asked: spec as unknown as Json,
});

/** A yes of the server holds this long for looking; for deleting it is asked anew. */
const BELIEVED: Millis = seconds(30);
const MOST_BELIEVED = 10_000;

/** Whether somebody answers for a Cleaner that names this account, or none. */
export function computeStanding(
  { actAs, defaultAccount, requireAuthor }: Pick<ActorServices, 'actAs' | 'defaultAccount' | 'requireAuthor'>,
  account: string | undefined,
  hasAuthor: boolean,
): 'somebody' | 'nobody' {
  if (actAs !== 'author' || hasAuthor) return 'somebody';
  if (account) return requireAuthor ? 'nobody' : 'somebody';
  return defaultAccount ? 'somebody' : 'nobody';
}

export class Actors {
  readonly #services: ActorServices;
  readonly #believed = new Map<string, number>();

  constructor(services: ActorServices) {
    this.#services = services;
  }

  /** With the account of a record, whatever the spec says by now. The default one is still the operator's choice. */
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
    const standing = computeStanding(this.#services, account, author !== undefined);
    if (standing === 'nobody')
      return proof?.kind === 'expired'
        ? { kind: 'nobody', reason: 'AuthorExpired', why: describeExpired(proof, cleaner) }
        : { kind: 'nobody', reason: 'Forbidden', why: describeUnknown(cleaner) };
    if (name) return this.#asAccount({ namespace: cleaner.metadata.namespace ?? '', name }, author);
    if (author === undefined) return { kind: 'actor', client: acting, impersonates: false };
    const client = this.#services.impersonateAuthor?.(author);
    return { kind: 'actor', client: client ?? acting, impersonates: client !== undefined, subject: author };
  }

  /** The account a Cleaner is carried out with, if any. */
  accountOf({ spec }: Cleaner): string | undefined {
    return spec.serviceAccountName || this.#services.defaultAccount;
  }

  /** Why the actor may not do all of this, if so. `fresh`: no earlier answer counts. */
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
   * Why one request may not be sent for the actor, if so. Where the server judges every request by itself, it need not
   * be asked first.
   */
  async refusalTo(
    actor: Acting,
    verb: 'create' | 'get' | 'patch' | 'delete',
    { group, resource }: Kind,
    { namespace, name }: ObjectKey,
  ): Promise<string | undefined> {
    if (actor.impersonates || actor.subject === undefined) return undefined;
    // Of what is created the server does not know the name when it judges. Without a namespace it is the whole cluster's,
    // and no right in a namespace is enough.
    const named = verb === 'create' ? {} : { name };
    const need = { verb, group, resource, ...named, ...(namespace ? { namespace } : {}) };
    return this.refusal(actor, [need], false);
  }

  /** Why an object of this kind could not be created for the actor, if so: the actor may not, or Lapse itself. */
  async refusalToCreate(
    actor: Acting,
    { group, resource }: Kind,
    namespace: string,
  ): Promise<string | undefined> {
    const need: Need = { verb: 'create', group, resource, namespace };
    const refusal = await this.refusal(actor, [need], false);
    if (refusal !== undefined || actor.impersonates) return refusal;
    const missing = await reviewSelf(this.#services.client, [{ ...need, verb: 'get' }, need]);
    return missing.length === 0 ? undefined : `Lapse may not ${describeNeeds(missing)}`;
  }

  /**
   * Why the actor may not carry out a record that was found in status, if so: the author's right to act as the account,
   * and the right to delete every target and every Helm record, none of them from memory.
   */
  async refusalOfRecord(
    actor: Acting,
    record: DeletionRecord,
    namespace: string,
  ): Promise<string | undefined> {
    for (const objects of byResource(record).values()) {
      const [{ group, resource }] = objects as [Deletable];
      const need: Need = { verb: 'delete', group, resource, namespace };
      // One review per kind where the right covers all names.
      if ((await this.refusal(actor, [need], true)) === undefined) continue;
      const named = objects.map(({ name }) => ({ ...need, name }));
      const refusal = await this.refusal(actor, named, true);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** Whether a target may be shown to the actor: what the server does not judge by itself is asked. */
  async maySee(actor: Acting, target: Target, kind: ServedKind, namespace: string): Promise<boolean> {
    if (actor.impersonates) return true;
    return (await this.refusal(actor, [needToFind(target, kind, namespace)], false)) === undefined;
  }

  /** Why the actor may not list a kind, if so: asked only where the server does not judge by itself. */
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
    return missing.length === 0 ? undefined : `${subject.username} may not ${describeNeeds(missing)}`;
  }

  #asAccount(who: Account, author: Subject | undefined): Actor {
    if (!isImpersonationAllowed(this.#services.impersonation, who))
      return { kind: 'nobody', reason: 'Forbidden', why: describeImpersonationOff(who, 'cleaner') };
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
