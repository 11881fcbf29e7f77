// Writes the status or the TTL annotation of a request and retries after a conflict: the object is read and the patch is
// computed again. No other write is retried within a reconcile.

import type { JsonObject } from '@lapse/kube/api/json';
import { keyOf } from '@lapse/kube/api/kind';
import { again, settled } from '@lapse/runtime/outcome';
import { type ObjectPatch, type Patched, patchObject } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { RequestObject } from '#api/storage/request';
import type { RequestRules } from './rules.ts';

const ROUNDS = 5;

export interface Change<T> extends Pick<ObjectPatch, 'subresource'> {
  /** Returns a merge patch, or undefined if the object needs no change. */
  patch(request: T): JsonObject | undefined;
}

export async function writeRequest<T extends RequestObject>(
  ctx: ReconcileContext,
  { kind }: RequestRules<T>,
  request: T,
  { patch, ...options }: Change<T>,
): Promise<Patched<T>> {
  let current = request;
  for (let round = 1; ; round++) {
    const patched = await patchObject(ctx, kind, current, { patch: patch(current), ...options });
    if (patched.kind !== 'changed') return patched;
    if (round === ROUNDS)
      return { ...patched, outcome: again('the request changes faster than it can be written') };
    const live = await ctx.client.get(kind, keyOf(current));
    if (live?.metadata.uid !== request.metadata.uid) return { kind: 'gone', outcome: settled() };
    current = live!;
  }
}
