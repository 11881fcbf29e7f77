// Whose rights a Cleaner is carried out with (those of a service account, of its author, or of Lapse where the operator
// configures it), and which rights it needs.

import type { Clock } from '@lapse/base/clock';
import type { Json } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Cleaner, DeletionRecord, RecordedTarget } from '#api/cleaner';
import { type Account, accountSubject, type Need, type Subject } from '#authors/accessReview';
import { AuthorizedClient } from '#authors/authorizedClient';
import { type AuthorSeal, describeExpired, describeUnknown, type Signed } from '#authors/authorSeal';
import { type ImpersonationScope, impersonationRefusal } from '#authors/impersonation';
import { ReviewCache } from '#authors/reviewCache';
import { DRIVERS } from '#helm/readStorage';
import type { Driver } from '#helm/storage';
import type { ReviewNeeds } from '../objectCheck.ts';
import type { Resolved } from './kinds.ts';
import type { Meaning, Target } from './spec.ts';

export type Actor =
  | { readonly kind: 'actor'; readonly client: AuthorizedClient }
  | { readonly kind: 'noActor'; readonly reason: 'Forbidden' | 'AuthorExpired'; readonly why: string };

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

/** Whether a Cleaner with this account (or without one) has an actor: its author, an account, or Lapse itself. */
export function hasActor(
  { actAs, defaultAccount, requireAuthor }: Pick<ActorServices, 'actAs' | 'defaultAccount' | 'requireAuthor'>,
  account: string | undefined,
  hasAuthor: boolean,
): boolean {
  if (actAs !== 'author' || hasAuthor) return true;
  return account ? !requireAuthor : Boolean(defaultAccount);
}

/** Without an account in the spec, the operator's default account is used. */
export const accountOf = ({ spec }: Cleaner, defaultAccount: string | undefined): string | undefined =>
  spec.serviceAccountName || defaultAccount;

export class Actors {
  readonly #services: ActorServices;
  readonly #reviews: ReviewCache;

  constructor(services: ActorServices) {
    this.#services = services;
    this.#reviews = new ReviewCache(services.client, services.clock);
  }

  get defaultAccount(): string | undefined {
    return this.#services.defaultAccount;
  }

  /**
   * Uses the account of a record, even if the spec changed since. The default account remains the operator's
   * choice.
   */
  ofRecord(cleaner: Cleaner, account: string | undefined, signal: AbortSignal): Promise<Actor> {
    const isDefault = account === this.#services.defaultAccount && !cleaner.spec.serviceAccountName;
    return isDefault ? this.of(cleaner, signal) : this.of(cleaner, signal, account);
  }

  async of(cleaner: Cleaner, signal: AbortSignal, account = cleaner.spec.serviceAccountName): Promise<Actor> {
    const { acting, actAs, defaultAccount, seal, impersonateAuthor } = this.#services;
    const name = account || defaultAccount;
    const asks = actAs === 'author';
    const proof = asks && (!name || account) ? await seal?.authorOf(cleaner, signedOf(cleaner)) : undefined;
    const author = proof?.kind === 'author' ? proof.subject : undefined;
    if (!hasActor(this.#services, account, author !== undefined))
      return proof?.kind === 'expired'
        ? { kind: 'noActor', reason: 'AuthorExpired', why: describeExpired(proof, cleaner) }
        : { kind: 'noActor', reason: 'Forbidden', why: describeUnknown(cleaner) };
    if (name) return this.#asAccount({ namespace: cleaner.metadata.namespace ?? '', name }, author, signal);
    const impersonated = author === undefined ? undefined : impersonateAuthor?.(author);
    const authorization = {
      client: impersonated ?? acting,
      impersonates: impersonated !== undefined,
      ...(author === undefined ? {} : { subject: author }),
    };
    return { kind: 'actor', client: new AuthorizedClient(authorization, this.#reviews, signal) };
  }

  #asAccount(account: Account, author: Subject | undefined, signal: AbortSignal): Actor {
    const why = impersonationRefusal(this.#services.impersonation, account, 'cleaner');
    if (why !== undefined) return { kind: 'noActor', reason: 'Forbidden', why };
    const authorization = {
      client: this.#services.impersonate(account),
      subject: accountSubject(account),
      ...(author === undefined ? {} : { author }),
      impersonates: true,
      account,
    };
    return { kind: 'actor', client: new AuthorizedClient(authorization, this.#reviews, signal) };
  }
}

const needOf = (
  verb: string,
  { group, resource }: Pick<ServedKind, 'group' | 'resource'>,
  namespace: string,
  name?: string,
): Need => ({ verb, group, resource, namespace, ...(name ? { name } : {}) });

const needToFind = ({ reference: { name } }: Target, kind: ServedKind, namespace: string): Need =>
  needOf(name ? 'get' : 'list', kind, namespace, name);

/** Rights required so that conditions can read included targets and watch their changes. */
export const needsToSee = (resolved: readonly Resolved[], namespace: string): Need[] =>
  resolved
    .filter(({ target }) => target.included)
    .flatMap(({ target, kind }) => [
      needToFind(target, kind, namespace),
      needOf('watch', kind, namespace, target.reference.name),
    ]);

/** Rights required to find and delete targets. */
const needsToDelete = (resolved: readonly Resolved[], namespace: string): Need[] =>
  resolved
    .filter(({ target }) => target.delete)
    .flatMap(({ target, kind }) => [
      needToFind(target, kind, namespace),
      needOf('delete', kind, namespace, target.reference.name),
    ]);

/** Rights required for all targets. */
export const needsOf = (resolved: readonly Resolved[], namespace: string): Need[] => [
  ...needsToSee(resolved, namespace),
  ...needsToDelete(resolved, namespace),
];

/** Rights required to read and purge the records of a release. Rights to its objects are reviewed one by one. */
const needsForHelm = (namespace: string, driver: Driver): Need[] =>
  ['list', 'delete'].map((verb) => needOf(verb, { group: '', resource: `${driver}s` }, namespace));

/** Lapse itself also marks the record of a release that it could not uninstall completely. */
const ownNeedsForHelm = (namespace: string, driver: Driver): Need[] => [
  ...needsForHelm(namespace, driver),
  needOf('patch', { group: '', resource: `${driver}s` }, namespace),
];

/**
 * Returns why a decision may not be made, or undefined. Without cached reviews: rights may have been revoked since the
 * Cleaner was created. Rights to one of the places where Helm keeps records are enough.
 */
export async function refusalToDecide(
  client: AuthorizedClient,
  { release }: Meaning,
  resolved: readonly Resolved[],
  namespace: string,
): Promise<string | undefined> {
  const refusal = await client.refusal(needsOf(resolved, namespace), true);
  if (refusal !== undefined || release === undefined) return refusal;
  const refusals: string[] = [];
  for (const driver of DRIVERS) {
    const ofDriver = await client.refusal(needsForHelm(namespace, driver), true);
    if (ofDriver === undefined) return undefined;
    refusals.push(ofDriver);
  }
  return refusals.join('; nor: ');
}

type Deletable = Pick<RecordedTarget, 'group' | 'resource' | 'name'>;

/**
 * Returns why a record found in status may not be carried out, or undefined. Reviews the author's right to
 * impersonate the account and the right to delete every target and every Helm record, without cached reviews.
 */
export async function refusalOfRecord(
  client: AuthorizedClient,
  { targets, helm }: DeletionRecord,
  namespace: string,
): Promise<string | undefined> {
  const storage =
    helm?.storage.map(({ driver, name }): Deletable => ({ group: '', resource: `${driver}s`, name })) ?? [];
  const byResource = Map.groupBy([...targets, ...storage], ({ group, resource }) => `${group}/${resource}`);
  for (const objects of byResource.values()) {
    // One review per kind is enough where the right covers all names.
    if ((await client.refusal([needOf('delete', objects[0]!, namespace)], true)) === undefined) continue;
    const named = objects.map((object) => needOf('delete', object, namespace, object.name));
    const refusal = await client.refusal(named, true);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/**
 * Rights to one of the places where Helm keeps records are enough. If both are missing, those to Secrets are
 * reported.
 */
export async function missingForHelm(
  namespace: string,
  review: ReviewNeeds,
  needsOfDriver = needsForHelm,
): Promise<Need[]> {
  const secrets = await review(needsOfDriver(namespace, 'secret'));
  if (secrets.length === 0) return [];
  return (await review(needsOfDriver(namespace, 'configmap'))).length === 0 ? [] : secrets;
}

export interface OwnRightsOptions {
  readonly defaultAccount?: string;
  /** Deletes are sent as the author. */
  readonly asAuthor: boolean;
}

/**
 * The rights that Lapse itself lacks to carry out the Cleaner. The right to impersonate belongs to the installation
 * and is not part of the result.
 */
export async function missingOfLapse(
  meaning: Meaning,
  resolved: readonly Resolved[],
  namespace: string,
  { asAuthor, defaultAccount }: OwnRightsOptions,
  review: ReviewNeeds,
): Promise<Need[]> {
  // When Lapse acts as an account or author, it uses its own rights only for the watches of included targets.
  const isOther = meaning.account !== undefined || defaultAccount !== undefined || asAuthor;
  const missing = await review((isOther ? needsToSee : needsOf)(resolved, namespace));
  if (meaning.release !== undefined && !isOther)
    missing.push(...(await missingForHelm(namespace, review, ownNeedsForHelm)));
  return missing;
}
