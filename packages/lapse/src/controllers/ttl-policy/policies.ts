// The state of the policies in this process: activation, sources and target records. Policy reconciles write it, target
// reconciles read it. All of it can be rebuilt.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf, metadataOf, type ObjectKey } from '@lapse/kube/api/kind';
import { apiVersionOf } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { DynamicView } from '@lapse/runtime/reconcileContext';
import type { Source } from '@lapse/runtime/source';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import type { Subject } from '#authors/accessReview';
import { AUTHOR_ANNOTATION } from '#authors/authorSeal';
import { type Budget, createBudget } from '#deletion/budget';
import type { LimitsConfiguration } from '#limits/configuration';
import type { Activation } from './activation.ts';
import type { AnyPolicy, CompiledPolicy } from './compile.ts';
import type { Standing } from './decide.ts';
import { objectName, resourceId } from './keys.ts';
import { PolicyLimits } from './policyLimits.ts';
import { sourceOf } from './sources.ts';
import type { Written } from './status.ts';
import { TargetRecords } from './targetRecords.ts';

/** A policy that may act. */
export interface ActivePolicy extends CompiledPolicy {
  /** TTLPolicy or ClusterTTLPolicy. */
  readonly of: Kind<AnyPolicy>;
  readonly key: ObjectKey;
  /** The identity of the policy object (see `identityOf`). */
  readonly identity: string;
  readonly kind: Kind;
  readonly resource: string;
  readonly source: Source;
  readonly records: TargetRecords;
  /** The client that sends the DELETEs. */
  readonly client: Client;
  /** The name of the author whose permissions were reviewed. */
  readonly author?: string;
  readonly budget?: Budget;
  readonly limits: PolicyLimits;
  view?: DynamicView;
  /** Labels of namespaces, if the policy selects by them. */
  namespaces?: DynamicView;
  /** A DELETE was refused: no further deletions before the permissions are reviewed. */
  suspect: boolean;
  /** The permissions are in order: until then a refused DELETE only concerns its object. */
  clearedUntil?: Instant;
}

/** The state of a policy between reconciles. */
export interface Entry {
  /** The identity of the policy object: another identity gets a new entry. */
  readonly identity: string;
  readonly key: ObjectKey;
  /** When this state of the policy was first seen, or when it started to list its targets. */
  since: Instant;
  /** The spec is invalid. */
  broken: boolean;
  /** The last review failed: it is unknown whether the policy may act. */
  isUnsure: boolean;
  activation?: Activation;
  active?: ActivePolicy;
  records: TargetRecords;
  countedAt?: Instant;
  readonly limits: PolicyLimits;
  readonly written: Written;
}

export interface PoliciesOptions {
  readonly clock: Clock;
  readonly client: Client;
  readonly impersonate: (account: { namespace: string; name: string }) => Client;
  /** Set: DELETEs without a service account are sent as the author of the policy. */
  readonly impersonateAuthor?: (author: Subject) => Client;
  readonly limits: LimitsConfiguration;
}

export class Policies {
  /** Whether this replica acts. A standby does not learn what happened to due objects. */
  isActing = false;
  readonly #options: PoliciesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #byResource = new Map<string, Set<ActivePolicy>>();
  readonly #budgets = new Map<string, Budget>();

  constructor(options: PoliciesOptions) {
    this.#options = options;
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** The entry of the current policy. A changed spec gets a new entry that keeps the count of deletions. */
  entryOf(policy: AnyPolicy, key: ObjectKey, now: Instant): Entry {
    const name = objectName(key);
    const identity = identityOf(policy);
    const known = this.#entries.get(name);
    if (known?.identity === identity) return known;
    const isSame = known !== undefined && uidOf(known.identity) === policy.metadata.uid;
    const before = isSame ? known.records : (policy.status?.deleted ?? 0);
    if (known !== undefined) this.deactivate(known);
    const records = new TargetRecords(before);
    const entry: Entry = {
      identity,
      key,
      since: now,
      broken: false,
      isUnsure: false,
      records,
      limits: new PolicyLimits(policy, this.#options.limits, isSame ? known.limits : undefined),
      written: {},
    };
    this.#entries.set(name, entry);
    return entry;
  }

  /** The state of exactly this version of the policy. */
  standingOf(policy: AnyPolicy): Standing {
    const entry = this.#entries.get(objectName(keyOf(policy)));
    return entry === undefined || entry.identity !== identityOf(policy) ? 'pending' : standingOf(entry);
  }

  /** Since when the policy may be pending; undefined if it was not reconciled yet. */
  sinceOf(policy: AnyPolicy): Instant | undefined {
    return this.#entries.get(objectName(keyOf(policy)))?.since;
  }

  activate(
    entry: Entry,
    compiled: CompiledPolicy,
    { target: kind, author }: Pick<Extract<Activation, { kind: 'allowed' }>, 'target' | 'author'>,
    now: Instant,
  ): ActivePolicy {
    if (entry.active !== undefined && entry.active.resource === resourceId(kind)) return entry.active;
    this.deactivate(entry);
    entry.since = now;
    entry.records = new TargetRecords(entry.records);
    const budget = this.#budgetOf(entry.key, compiled.perMinute);
    const active: ActivePolicy = {
      ...compiled,
      of: (compiled.namespace === undefined ? ClusterTTLPolicy : TTLPolicy) as Kind<AnyPolicy>,
      key: entry.key,
      identity: entry.identity,
      kind: compiled.reads?.length === 0 ? (metadataOf(kind) as Kind) : kind,
      resource: resourceId(kind),
      source: sourceOf(compiled, entry.key, kind),
      records: entry.records,
      client: this.#clientOf(compiled, author),
      ...(author === undefined ? {} : { author: author.username }),
      suspect: false,
      limits: entry.limits,
      ...(budget === undefined ? {} : { budget }),
    };
    entry.active = active;
    const others = this.#byResource.get(active.resource);
    if (others === undefined) this.#byResource.set(active.resource, new Set([active]));
    else others.add(active);
    return active;
  }

  #clientOf({ account }: CompiledPolicy, author: Subject | undefined): Client {
    const { client, impersonate, impersonateAuthor } = this.#options;
    if (account !== undefined) return impersonate(account);
    return (author && impersonateAuthor?.(author)) ?? client;
  }

  deactivate(entry: Entry): void {
    const { active } = entry;
    if (active === undefined) return;
    const others = this.#byResource.get(active.resource);
    others?.delete(active);
    if (others?.size === 0) this.#byResource.delete(active.resource);
    delete entry.active;
  }

  /** The policy was deleted. */
  forget(key: ObjectKey): void {
    const name = objectName(key);
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.deactivate(entry);
    this.#entries.delete(name);
    this.#budgets.delete(name);
  }

  /** This replica lost the lease: everything except the budgets is rebuilt when it leads again. */
  standBy(): void {
    for (const entry of this.#entries.values()) this.deactivate(entry);
    this.#entries.clear();
  }

  /** The active policies for a resource. */
  of(resource: string): Iterable<ActivePolicy> {
    return this.#byResource.get(resource) ?? [];
  }

  /** The budget is kept when the policy or its limit is edited, so that edits cannot exceed the limit. */
  #budgetOf(key: ObjectKey, perMinute: number | undefined): Budget | undefined {
    if (perMinute === undefined) return undefined;
    const name = objectName(key);
    const known = this.#budgets.get(name);
    known?.limit({ perMinute });
    const budget = known ?? createBudget({ clock: this.#options.clock, perMinute });
    this.#budgets.set(name, budget);
    return budget;
  }
}

export function standingOf({ broken, isUnsure, activation, active }: Entry): Standing {
  if (broken) return 'broken';
  if (isUnsure) return 'blind';
  if (activation?.kind === 'refused') return isOpen(activation) ? 'blind' : 'refused';
  if (active === undefined) return 'pending';
  if (isBlind(active)) return 'blind';
  if (isSynced(active)) return 'ready';
  return problemsOf(active).length > 0 ? 'blind' : 'pending';
}

/** It is unknown whether the policy may act, or its kind may be served by now. */
const isOpen = ({ isOpen, awaits }: Extract<Activation, { kind: 'refused' }>): boolean =>
  isOpen === true || awaits !== undefined;

const problemsOf = ({ view, namespaces }: ActivePolicy) =>
  [view, namespaces].flatMap((one) => one?.status.problem ?? []);

/** The policy may no longer watch: its cache is outdated. */
export const isBlind = (active: ActivePolicy): boolean =>
  problemsOf(active).some(({ kind }) => kind === 'forbidden');

/** Whether the caches are complete: an object that is not in them does not exist. */
export const isSynced = ({ view, namespaces, namespaceLabels }: ActivePolicy): boolean =>
  view?.reader.synced === true && (namespaceLabels === undefined || namespaces?.reader.synced === true);

/** Changes when the meaning or the author of the policy changes. */
export function identityOf({ metadata }: AnyPolicy): string {
  return [metadata.uid, metadata.generation ?? 0, metadata.annotations?.[AUTHOR_ANNOTATION] ?? ''].join(' ');
}
const uidOf = (identity: string): string => identity.slice(0, identity.indexOf(' '));

/** `tekton.dev/v1 PipelineRun`, for metrics. Never only the kind, which other TTL controllers use. */
export const metricKind = (kind: Kind): string => `${apiVersionOf(kind)} ${kind.kind}`;
