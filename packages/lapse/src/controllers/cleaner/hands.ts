// Reading and deleting for a Cleaner, with somebody's rights: what people must be told about (forbidden, no such kind)
// are values, everything else is thrown and retried by the queue.

import type { Kind } from '@lapse/kube/api/kind';
import { metadataOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';

export interface Hands {
  readonly client: Client;
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** Why whoever has these rights may not list a kind, if so; for what was not reviewed when it was decided. */
  readonly refusalToList: (kind: Kind) => Promise<string | undefined>;
}

export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'forbidden'; readonly why: string }
  | { readonly kind: 'notServed' };

export type Deleted =
  /** It is gone or going, and this request did it. */
  | { readonly kind: 'deleted' }
  /** It was gone before, or something else has its name now. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'forbidden'; readonly why: string }
  /** A webhook or another rule said no. */
  | { readonly kind: 'refused'; readonly why: string };

/** Messages of the server name identities, never contents; they are cut all the same. */
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
  { client, namespace, signal }: Hands,
  kind: Kind<T>,
  name: string,
): Promise<Read<T | undefined>> => attempt(() => client.get(kind, { namespace, name }, { signal }));

/** Identity, labels and annotations only. */
export const getMetadata = (hands: Hands, kind: Kind, name: string): Promise<Read<KubeObject | undefined>> =>
  getObject(hands, metadataOf(kind) as Kind, name);

/** Up to `most` objects; one more when there are more. */
export const listObjects = <T extends KubeObject>(
  { client, namespace, signal }: Hands,
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

/** Deletes exactly this object. A kind that is not served any more has no objects. */
export async function deleteObject(
  hands: Hands,
  kind: Kind,
  { name, uid }: { readonly name: string; readonly uid: string },
): Promise<Deleted> {
  const answer = await deleteUnchanged(hands, kind, { name, uid });
  return answer.kind === 'changed' ? { kind: 'gone' } : answer;
}

/** The same, only as it was read. `changed`: something was written to it since, or another has its name. */
export async function deleteUnchanged(
  { client, namespace, signal }: Hands,
  kind: Kind,
  object: { readonly name: string; readonly uid: string; readonly resourceVersion?: string },
): Promise<Deleted | { readonly kind: 'changed' }> {
  const { name, uid, resourceVersion } = object;
  const premise = { ifUid: uid, ...(resourceVersion === undefined ? {} : { ifVersion: resourceVersion }) };
  try {
    const options = { ...premise, propagation: 'Background', signal } as const;
    const answer = await client.delete(kind, { namespace, name }, options);
    if (answer.kind !== 'conflict') return { kind: answer.kind === 'gone' ? 'gone' : 'deleted' };
    return answer.by === 'changed' ? { kind: 'changed' } : { kind: 'refused', why: tell(answer.error) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 403) return { kind: 'forbidden', why: tell(error) };
    if (error.code === 404) return { kind: 'gone' };
    if (error.code >= 400 && error.code < 500 && error.code !== 429)
      return { kind: 'refused', why: tell(error) };
    throw error;
  }
}

/** Merges a patch into an object, only as it was read. `refused`: forbidden, or not accepted. */
export async function patchUnchanged(
  { client, namespace, signal }: Hands,
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

/** Labels as the text of a selector. */
export const selectorOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',');
