// The interface of the trash: an object is saved before its DELETE is sent, in the version that the DELETE carries as
// precondition. The implementation is in the folder trash.

import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { Propagation } from '@lapse/kube/client/delete';
import type { SelectOptions } from '@lapse/kube/client/read';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { SentDelete } from './ownDeletions.ts';

/** Why and for whom an object is deleted. */
export interface Origin {
  /** `TTLPolicy shop/previews`. */
  readonly rule: string;
  /** The user who wrote the rule, if known. */
  readonly author?: string;
  readonly reason: string;
  /** The rule judged that the object had finished its work. */
  readonly isFinished?: boolean;
  /** The rule is the object's own TTL field. Such deletions are saved only on request. */
  readonly isOwnTtl?: boolean;
}

export interface SaveRequest {
  readonly kind: Kind;
  /** With the uid and the resourceVersion of the DELETE. Without resourceVersion, any version may be saved. */
  readonly object: KubeObject;
  readonly origin: Origin;
  readonly deadline: Instant;
  readonly propagation?: Propagation;
  /** Reads the whole object, with the rights of the deletion. */
  readonly read: () => Promise<KubeObject | undefined>;
  readonly burst?: Burst;
}

/** The objects of one collection that a rule deletes at the same time. */
export interface Burst {
  /** How many objects `pages` returns, roughly. */
  readonly size: number;
  /** The objects that are due, at most `most` of them. */
  readonly due: (most: number) => readonly SaveRequest[];
  /** Lists the collection: whole objects. */
  readonly pages: () => AsyncIterable<readonly KubeObject[]>;
}

/** What a controller knows about other objects that it deletes now, by the rule that deletes the target. */
export interface DueTogether<Reason> extends SelectOptions {
  /** How many objects the selection has. */
  readonly size: number;
  readonly due: (most: number) => readonly SentDelete<Reason>[];
}

export type Saved =
  /** `object`: as it was saved. */
  | { readonly kind: 'saved'; readonly object: KubeObject }
  /** The object is deleted without being saved: the configuration says so. */
  | { readonly kind: 'notSaved' }
  /** The object has another version than the decision. */
  | { readonly kind: 'changed' }
  /** The object does not exist, or another object has its name. */
  | { readonly kind: 'gone' }
  /** The object must not be deleted before `until`. */
  | { readonly kind: 'failed'; readonly why: string; readonly until: Instant };

export interface Trash {
  /** Resolves after the object is stored. Rejects if the API server does not answer. */
  save(request: SaveRequest): Promise<Saved>;
}

export interface SaveOptions<Reason> {
  readonly trash?: Trash | undefined;
  /** Without it, or where it returns undefined, nothing is saved. */
  readonly origin?: (sent: SentDelete<Reason>, ctx: ReconcileContext) => Origin | undefined;
  /** Reads the current object; default: a GET or, where that is forbidden, a list of one. */
  readonly read?: (client: Client, kind: Kind, key: ObjectKey) => Promise<KubeObject | undefined>;
}

interface Saving<Reason> extends SentDelete<Reason> {
  readonly client: Client;
  readonly propagation?: Propagation;
  readonly together?: DueTogether<Reason>;
}

/** Saves the object of a DELETE. */
export async function saveFirst<Reason>(
  options: SaveOptions<Reason>,
  ctx: ReconcileContext,
  sent: Saving<Reason>,
): Promise<Saved> {
  const request = options.trash === undefined ? undefined : requestOf(options, ctx, sent);
  if (options.trash === undefined || request === undefined) return { kind: 'notSaved' };
  const { together } = sent;
  return options.trash.save(
    together === undefined ? request : { ...request, burst: burstOf(options, ctx, sent, together) },
  );
}

function requestOf<Reason>(
  { origin, read = readWhole }: SaveOptions<Reason>,
  ctx: ReconcileContext,
  sent: Saving<Reason>,
): SaveRequest | undefined {
  const from = origin?.(sent, ctx);
  if (from === undefined) return undefined;
  const { client, object, propagation } = sent;
  const kind = wholeKind(sent.kind);
  return {
    kind,
    object,
    origin: from,
    deadline: sent.since,
    ...(propagation === undefined ? {} : { propagation }),
    read: () => read(client, kind, keyOf(object)),
  };
}

function wholeKind(kind: Kind): Kind {
  const { representation: _, ...rest } = kind;
  return rest;
}

/** Limits the memory that a page takes. */
const PAGE = 250;

function burstOf<Reason>(
  options: SaveOptions<Reason>,
  ctx: ReconcileContext,
  { client, kind, propagation }: Saving<Reason>,
  { size, due, ...selection }: DueTogether<Reason>,
): Burst {
  const shared = { client, ...(propagation === undefined ? {} : { propagation }) };
  return {
    size,
    due: (most) => due(most).flatMap((sent) => requestOf(options, ctx, { ...sent, ...shared }) ?? []),
    async *pages() {
      for await (const page of client.pages(wholeKind(kind), { ...selection, limit: PAGE })) {
        if (page.kind === 'expired') throw page.error;
        yield page.items;
      }
    },
  };
}

/** Helm's records are deleted with the right to list them; it does not include get. */
async function readWhole(client: Client, kind: Kind, key: ObjectKey): Promise<KubeObject | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    const { namespace, name } = key;
    const fieldSelector = `metadata.name=${name}`;
    const options = { ...(namespace === undefined ? {} : { namespace }), fieldSelector, limit: 0 };
    const { items } = await client.list(kind, options);
    return items.find(({ metadata }) => metadata.name === name);
  }
}

/** Why an object is held, for conditions and Events. */
export const describeNotSaved = (why: string): string =>
  `not deleted, because it could not be saved in the trash: ${why}`;

/** Finalizers of the garbage collector. */
const COLLECTOR: readonly string[] = ['orphan', 'foregroundDeletion'];

/** The API server always answers 409 to a background deletion of such an object with a resourceVersion. */
export const refusesVersion = ({ metadata: { finalizers = [] } }: KubeObject): boolean =>
  finalizers.length > 0 && finalizers.every((name) => COLLECTOR.includes(name));
