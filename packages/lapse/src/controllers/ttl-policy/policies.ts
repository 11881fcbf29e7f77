// The policies of this process, as far as passes have brought them to work: what each may do, where its targets are, what
// is known about them. Filled by policy passes, read by target passes. Everything here can be worked out again.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf, metadataOf, type ObjectKey } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { DynamicView } from '@lapse/runtime/pass';
import type { Source } from '@lapse/runtime/source';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import { type Budget, createBudget } from '#deletion/budget';
import type { Subject } from '#deletion/rights';
import { AUTHOR_ANNOTATION } from '#deletion/rightsAuthor';
import type { Activation } from './activation.ts';
import { Book } from './book.ts';
import type { AnyPolicy, CompiledPolicy } from './compile.ts';
import type { Standing } from './compute.ts';
import { objectName, resourceId } from './keys.ts';
import { buildProjection } from './projection.ts';
import type { Written } from './status.ts';

/** A policy at work. */
export interface ActivePolicy extends CompiledPolicy {
  /** TTLPolicy or ClusterTTLPolicy. */
  readonly of: Kind<AnyPolicy>;
  readonly key: ObjectKey;
  /** Of the object it was made from. */
  readonly identity: string;
  readonly kind: Kind;
  readonly resource: string;
  readonly source: Source;
  readonly book: Book;
  /** Whose rights deletes use. */
  readonly client: Client;
  readonly budget?: Budget;
  view?: DynamicView;
  /** Labels of namespaces, where they matter. */
  namespaces?: DynamicView;
  /** A delete was refused: nothing more before the rights have been reviewed. */
  suspect: boolean;
  /** They were, and are in order: until then a refusal is about its object. */
  clearedUntil?: Instant;
}

/** What is remembered of a policy from pass to pass. */
export interface Entry {
  /** Of the object: another identity is another beginning. */
  readonly identity: string;
  readonly key: ObjectKey;
  /** When it was first seen like this, or began to read its targets. */
  since: Instant;
  /** Not understood. */
  broken: boolean;
  /** The last review got no answer: nobody knows whether it may act. */
  isUnsure: boolean;
  activation?: Activation;
  active?: ActivePolicy;
  book: Book;
  countedAt?: Instant;
  readonly written: Written;
}

export interface PoliciesOptions {
  readonly clock: Clock;
  readonly client: Client;
  readonly impersonate: (account: { namespace: string; name: string }) => Client;
  /** Set: deletes without an account are sent as the policy's author. */
  readonly impersonateAuthor?: (author: Subject) => Client;
}

export class Policies {
  /** Whether this replica acts. One that does not never hears what has become of what was due. */
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

  /** The entry of a policy as it is now; a changed spec begins anew, and keeps its count of deletions. */
  entryOf(policy: AnyPolicy, key: ObjectKey, now: Instant): Entry {
    const name = objectName(key);
    const identity = identityOf(policy);
    const known = this.#entries.get(name);
    if (known?.identity === identity) return known;
    const isSame = known !== undefined && uidOf(known.identity) === policy.metadata.uid;
    const before = isSame ? known.book : (policy.status?.deleted ?? 0);
    if (known !== undefined) this.deactivate(known);
    const book = new Book(before);
    const entry: Entry = { identity, key, since: now, broken: false, isUnsure: false, book, written: {} };
    this.#entries.set(name, entry);
    return entry;
  }

  /** What is known about exactly this policy. */
  standingOf(policy: AnyPolicy): Standing {
    const entry = this.#entries.get(objectName(keyOf(policy)));
    return entry === undefined || entry.identity !== identityOf(policy) ? 'pending' : standingOf(entry);
  }

  /** Since when it may be pending; undefined: nobody has looked at it yet. */
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
    entry.book = new Book(entry.book);
    const budget = this.#budgetOf(entry.key, compiled.perMinute);
    const active: ActivePolicy = {
      ...compiled,
      of: (compiled.namespace === undefined ? ClusterTTLPolicy : TTLPolicy) as Kind<AnyPolicy>,
      key: entry.key,
      identity: entry.identity,
      kind: compiled.reads?.length === 0 ? (metadataOf(kind) as Kind) : kind,
      resource: resourceId(kind),
      source: sourceOf(compiled, entry.key, kind),
      book: entry.book,
      client: this.#clientOf(compiled, author),
      suspect: false,
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

  /** The policy is gone. */
  forget(key: ObjectKey): void {
    const name = objectName(key);
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.deactivate(entry);
    this.#entries.delete(name);
    this.#budgets.delete(name);
  }

  /** This replica lost the lease: all but the budgets is worked out again when it leads. */
  standBy(): void {
    for (const entry of this.#entries.values()) this.deactivate(entry);
    this.#entries.clear();
  }

  /** Policies at work on a resource. */
  of(resource: string): Iterable<ActivePolicy> {
    return this.#byResource.get(resource) ?? [];
  }

  /** A budget outlives edits of its policy, also of the limit itself, so that they cannot be used to exceed it. */
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

/** Nobody could say whether it may act, or its kind may be served by now, in the version it names. */
const isOpen = ({ isOpen, awaits }: Extract<Activation, { kind: 'refused' }>): boolean =>
  isOpen === true || awaits !== undefined;

const problemsOf = ({ view, namespaces }: ActivePolicy) =>
  [view, namespaces].flatMap((one) => one?.status.problem ?? []);

/** It may not read any more: what it read before is here, what came since is not. */
export const isBlind = (active: ActivePolicy): boolean =>
  problemsOf(active).some(({ kind }) => kind === 'forbidden');

/** Whether everything that existed is here, so that what is not here does not exist. */
export const isSynced = ({ view, namespaces, namespaceLabels }: ActivePolicy): boolean =>
  view?.reader.synced === true && (namespaceLabels === undefined || namespaces?.reader.synced === true);

/** Whatever may change what a policy means, or who answers for it. */
export function identityOf({ metadata }: AnyPolicy): string {
  return [metadata.uid, metadata.generation ?? 0, metadata.annotations?.[AUTHOR_ANNOTATION] ?? ''].join(' ');
}
const uidOf = (identity: string): string => identity.slice(0, identity.indexOf(' '));

/** `tekton.dev/PipelineRun`: where policies for one kind meet, whatever version they name. */
export function targetId({ spec }: KubeObject): string {
  const { apiVersion = '', kind = '' } = (spec as AnyPolicy['spec'] | undefined)?.target ?? {};
  const slash = apiVersion.indexOf('/');
  return `${slash === -1 ? '' : apiVersion.slice(0, slash)}/${kind}`;
}
export const targetIdOf = ({ group, kind }: Kind): string => `${group}/${kind}`;

/** What a policy reads of its targets. */
export function sourceOf(policy: CompiledPolicy, key: ObjectKey, kind: Kind): Source {
  return {
    kind: policy.reads?.length === 0 ? (metadataOf(kind) as Kind) : kind,
    projection: buildProjection(policy, key),
    ...(policy.namespace === undefined ? {} : { namespace: policy.namespace }),
    ...(policy.labelSelector === '' ? {} : { labelSelector: policy.labelSelector }),
  };
}

/** `tekton.dev/v1 PipelineRun`, for metrics: never the plain kind, which other controllers of TTLs use. */
export const metricKind = (kind: Kind): string => `${apiVersionOf(kind)} ${kind.kind}`;
