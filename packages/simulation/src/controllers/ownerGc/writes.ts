// The three writes of the garbage collector, each guarded by uid and resourceVersion. After a conflict it reads the live
// object and retries a few times. Then the reconcile ends and the next one decides again.

import { equal, type Json } from '@lapse/kube/api/json';
import { type Kind, keyOf, type PartialObject } from '@lapse/kube/api/kind';
import type { OwnerReference } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { Propagation } from './compute.ts';
import type { Found } from './graph.ts';

export type Written = 'done' | 'gone' | 'contended';

const ROUNDS = 3;

/** The live object; undefined if it is absent or has another uid. */
async function getSame(client: Client, { kind, object }: Found): Promise<PartialObject | undefined> {
  const live = await client.get(kind, keyOf(object));
  return live?.metadata.uid === object.metadata.uid ? live : undefined;
}

/** Writes metadata computed from the newest version. The callback returns undefined if nothing is left to do. */
async function patchMetadata(
  client: Client,
  { kind, object }: Found,
  compute: (object: PartialObject) => object | undefined,
): Promise<Written> {
  let current: PartialObject | undefined = object;
  for (let round = 0; round < ROUNDS; round++) {
    const metadata = compute(current);
    if (metadata === undefined) return 'done';
    const { uid, resourceVersion } = current.metadata;
    const answer = await client.patch(
      kind,
      keyOf(current),
      { type: 'merge', patch: { metadata } },
      { ifUid: uid!, ifVersion: resourceVersion! },
    );
    if (answer.kind === 'patched') return 'done';
    if (answer.kind === 'missing') return 'gone';
    if (answer.kind === 'invalid' || answer.by !== 'changed') throw answer.error;
    current = await getSame(client, { kind, object });
    if (current === undefined) return 'gone';
  }
  return 'contended';
}

/** Removes all owner references with one of these uids. */
export const removeOwners = (client: Client, found: Found, uids: ReadonlySet<string>): Promise<Written> =>
  patchMetadata(client, found, ({ metadata }) => {
    const all = metadata.ownerReferences ?? [];
    const left = all.filter(({ uid }) => !uids.has(uid));
    return left.length === all.length ? undefined : { ownerReferences: left.length === 0 ? null : left };
  });

export const removeFinalizer = (client: Client, found: Found, finalizer: string): Promise<Written> =>
  patchMetadata(client, found, ({ metadata }) => {
    const all = metadata.finalizers ?? [];
    const left = all.filter((name) => name !== finalizer);
    return left.length === all.length ? undefined : { finalizers: left.length === 0 ? null : left };
  });

/** Sets exactly these references. If the object has changed, the decision is obsolete and nothing is written. */
export async function replaceOwners(
  client: Client,
  { kind, object }: Found,
  ownerReferences: readonly OwnerReference[],
): Promise<Written> {
  const { uid, resourceVersion } = object.metadata;
  const answer = await client.patch(
    kind,
    keyOf(object),
    { type: 'merge', patch: { metadata: { ownerReferences } } },
    { ifUid: uid!, ifVersion: resourceVersion! },
  );
  if (answer.kind === 'invalid') throw answer.error;
  if (answer.kind === 'conflict') return 'contended';
  return answer.kind === 'patched' ? 'done' : 'gone';
}

/** Deletes the object. A newer version is deleted only if its owner references are unchanged. */
export async function deleteUnowned(
  client: Client,
  found: Found,
  propagation: Propagation,
): Promise<Written> {
  const { kind, object } = found;
  let current: PartialObject | undefined = object;
  for (let round = 0; round < ROUNDS; round++) {
    const { uid, resourceVersion } = current.metadata;
    const answer = await deleteOrGone(client, kind, current, {
      ifUid: uid!,
      ifVersion: resourceVersion!,
      propagation,
    });
    if (answer.kind === 'gone') return 'gone';
    if (answer.kind !== 'conflict') return 'done';
    if (answer.by !== 'changed') throw answer.error;
    current = await getSame(client, found);
    if (current === undefined) return 'gone';
    if (!hasSameOwners(current, object)) return 'contended';
  }
  return 'contended';
}

/** A kind that is no longer served has no objects to delete. */
async function deleteOrGone(
  client: Client,
  kind: Kind<PartialObject>,
  object: PartialObject,
  options: { ifUid: string; ifVersion: string; propagation: Propagation },
) {
  try {
    return await client.delete(kind, keyOf(object), options);
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return { kind: 'gone' } as const;
    throw error;
  }
}

const hasSameOwners = (a: PartialObject, b: PartialObject): boolean =>
  equal(
    (a.metadata.ownerReferences ?? []) as unknown as Json,
    (b.metadata.ownerReferences ?? []) as unknown as Json,
  );
