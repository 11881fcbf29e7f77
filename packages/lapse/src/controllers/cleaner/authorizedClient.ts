// Reads and deletes objects for a Cleaner with the rights of its actor. Results that must be reported to the user
// (forbidden, kind not served) are return values. All other errors are thrown, and the queue retries.

import { assertNever } from '@lapse/base/assertNever';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { metadataOf } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { RecordedDeletion } from '#deletion/expirer';
import type { DeletedWhat } from './metrics.ts';

export interface AuthorizedClient {
  readonly client: Client;
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** Returns why the actor may not list a kind, or undefined. For kinds that were not reviewed before the decision. */
  readonly refusalToList: (kind: Kind) => Promise<string | undefined>;
}

/** Also deletes, for a recorded decision. */
export interface DeletingClient extends AuthorizedClient {
  /** Sends one DELETE and counts it. `what`: the label of the metric. */
  readonly expire: (kind: Kind, object: KubeObject, what: DeletedWhat) => Promise<RecordedDeletion>;
  /** Counts a DELETE without an answer if the object is gone or terminating. Undefined: it does not exist. */
  readonly observe: (kind: Kind, key: ObjectKey, object: KubeObject | undefined) => void;
}

export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'forbidden'; readonly why: string }
  | { readonly kind: 'notServed' };

export type Deleted =
  /** This request deleted the object, or it is terminating now. */
  | { readonly kind: 'deleted' }
  /** The object was already deleted, or another object has its name now. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'forbidden'; readonly why: string }
  /** An admission webhook or policy rejected the request. */
  | { readonly kind: 'refused'; readonly why: string };

/** Messages of the API server contain identities, never object contents. They are truncated nevertheless. */
const LONGEST = 300;
export const tell = (error: Error): string => error.message.slice(0, LONGEST);

async function attempt<T>(read: () => Promise<T>): Promise<Read<T>> {
  try {
    return { kind: 'read', value: await read() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 403) return { kind: 'forbidden', why: tell(error) };
    if (error.code === 404) return { kind: 'notServed' };
    throw error;
  }
}

export const getObject = <T extends KubeObject>(
  { client, namespace, signal }: AuthorizedClient,
  kind: Kind<T>,
  name: string,
): Promise<Read<T | undefined>> => attempt(() => client.get(kind, { namespace, name }, { signal }));

/** Identity, labels and annotations only. */
export const getMetadata = (
  authorized: AuthorizedClient,
  kind: Kind,
  name: string,
): Promise<Read<KubeObject | undefined>> => getObject(authorized, metadataOf(kind) as Kind, name);

/** Up to `most` objects, plus one if there are more. */
export const listObjects = <T extends KubeObject>(
  { client, namespace, signal }: AuthorizedClient,
  kind: Kind<T>,
  labelSelector: string,
  most: number,
): Promise<Read<T[]>> =>
  attempt(async () => {
    const items: T[] = [];
    for await (const page of client.pages(kind, { namespace, labelSelector, signal })) {
      if (page.kind === 'expired') throw page.error;
      items.push(...page.items);
      if (items.length > most) return items.slice(0, most + 1);
    }
    return items;
  });

/** Deletes exactly this object, by uid. A kind that is no longer served has no objects. */
export async function deleteObject(
  client: DeletingClient,
  kind: Kind,
  { name, uid }: { readonly name: string; readonly uid: string },
  what: DeletedWhat,
): Promise<Deleted> {
  const answer = await deleteUnchanged(client, kind, { name, uid }, what);
  return answer.kind === 'changed' ? { kind: 'gone' } : answer;
}

/** Deletes the object only if it is unchanged since it was read. `changed`: it was written since. */
export async function deleteUnchanged(
  client: DeletingClient,
  kind: Kind,
  object: { readonly name: string; readonly uid: string; readonly resourceVersion?: string },
  what: DeletedWhat,
): Promise<Deleted | { readonly kind: 'changed' }> {
  const { namespace } = client;
  try {
    const metadata = { ...object, ...(namespace === '' ? {} : { namespace }) };
    const deletion = await client.expire(
      kind,
      { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata },
      what,
    );
    switch (deletion.kind) {
      case 'deleted':
      case 'terminating':
        return { kind: 'deleted' };
      case 'gone':
      case 'changed':
        return { kind: deletion.kind };
      case 'refused':
        return { kind: 'refused', why: tell(deletion.error) };
      default:
        return assertNever(deletion);
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 403) return { kind: 'forbidden', why: tell(error) };
    if (error.code === 404) return { kind: 'gone' };
    if (error.code >= 400 && error.code < 500 && error.code !== 429)
      return { kind: 'refused', why: tell(error) };
    throw error;
  }
}

/** Merge-patches an object only if it is unchanged since it was read. `refused`: forbidden, or rejected. */
export async function patchUnchanged(
  { client, namespace, signal }: AuthorizedClient,
  kind: Kind,
  object: { readonly name: string; readonly uid: string; readonly resourceVersion?: string },
  patch: object,
): Promise<
  | { readonly kind: 'patched' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'refused'; readonly why: string }
> {
  const { name, uid, resourceVersion } = object;
  const premise = { ifUid: uid, ...(resourceVersion === undefined ? {} : { ifVersion: resourceVersion }) };
  try {
    const answer = await client.patch(
      kind,
      { namespace, name },
      { type: 'merge', patch },
      { ...premise, signal },
    );
    if (answer.kind === 'patched') return { kind: 'patched' };
    return answer.kind === 'invalid' ? { kind: 'refused', why: tell(answer.error) } : { kind: 'changed' };
  } catch (error) {
    if (error instanceof ApiError && error.code < 500 && error.code !== 429)
      return { kind: 'refused', why: tell(error) };
    throw error;
  }
}

/** The labels as a selector string. */
export const selectorOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',');
