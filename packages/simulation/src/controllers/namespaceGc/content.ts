// Deletes the content of a namespace, kind by kind, Pods first. While a Pod remains, the objects that it may need (its
// ServiceAccount, Secrets, policies) are kept.

import type { Instant } from '@lapse/base/instant';
import { keyOf, metadataOf } from '@lapse/kube/api/kind';
import { Pod } from '@lapse/kube/api/kinds/builtin';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { asError } from '@lapse/runtime/outcome';
import {
  type ContentKind,
  computePodEstimate,
  computeRemains,
  isPods,
  type RemainingContent,
} from './compute.ts';

export interface Emptying {
  readonly client: Client;
  readonly namespace: string;
  /** When the namespace was deleted. */
  readonly since: Instant;
  readonly now: Instant;
}

export interface Emptied {
  readonly remains: readonly RemainingContent[];
  readonly problems: readonly string[];
  /** Pods remain, so nothing else was deleted. */
  readonly podsFirst: boolean;
}

export async function deleteContent(kinds: readonly ContentKind[], emptying: Emptying): Promise<Emptied> {
  const remains: RemainingContent[] = [];
  const problems: string[] = [];
  for (const kind of kinds) {
    try {
      const left = await deleteKind(kind, emptying);
      if (left.count > 0) remains.push(left);
      if (left.problem !== undefined) problems.push(left.problem);
    } catch (thrown) {
      problems.push(asError(thrown).message);
    }
    if (isPods(kind) && remains.length > 0) return { remains, problems, podsFirst: true };
  }
  return { remains, problems, podsFirst: false };
}

async function deleteKind(kind: ContentKind, emptying: Emptying): Promise<RemainingContent> {
  const { client, namespace, since, now } = emptying;
  const before = await listKind(kind, emptying);
  if (before.length === 0) return computeRemains(kind, before, { namespace, estimate: 0 });
  const estimate = isPods(kind)
    ? computePodEstimate((await client.list(Pod, { namespace })).items, since, now)
    : 0;
  if (kind.canDeleteCollection)
    await client.deleteCollection(metadataOf(kind), { namespace, propagation: 'Background' });
  else
    for (const item of before)
      await client.delete(metadataOf(kind), keyOf(item), { propagation: 'Background' });
  return computeRemains(kind, await listKind(kind, emptying), { namespace, estimate });
}

/** A kind that is no longer served, or cannot be listed, has no content. */
async function listKind(kind: ContentKind, { client, namespace }: Emptying) {
  try {
    return (await client.list(metadataOf(kind), { namespace })).items;
  } catch (error) {
    if (error instanceof ApiError && (error.code === 404 || error.code === 405)) return [];
    throw error;
  }
}
