// Writes the status or the TTL annotation of a request and retries after a conflict. No other write is retried. Each
// attempt carries the resourceVersion it was computed from; after a conflict the object is read and the patch is computed
// again.

import type { JsonObject } from '@lapse/kube/api/json';
import { keyOf } from '@lapse/kube/api/kind';
import { again, failed, type Outcome } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { RequestObject } from '#api/storage/request';
import type { RequestRules } from './rules.ts';

const ROUNDS = 5;

export interface Change<T> {
  readonly subresource?: 'status';
  /** Returns a merge patch, or undefined if the object needs no change. */
  patch(request: T): JsonObject | undefined;
}

export type Written<T> =
  | { readonly kind: 'written' | 'unneeded'; readonly request: T }
  /** The request was deleted, or another object has its name. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'not'; readonly outcome: Outcome };

export async function writeRequest<T extends RequestObject>(
  ctx: ReconcileContext,
  rules: RequestRules<T>,
  request: T,
  change: Change<T>,
): Promise<Written<T>> {
  const { uid } = request.metadata;
  let current = request;
  for (let round = 1; round <= ROUNDS; round++) {
    const body = change.patch(current);
    if (body === undefined) return { kind: 'unneeded', request: current };
    const answer = await ctx.client.patch(
      rules.kind,
      keyOf(current),
      { type: 'merge', patch: body },
      {
        ...(change.subresource === undefined ? {} : { subresource: change.subresource }),
        ...identityOf(current),
      },
    );
    if (answer.kind === 'patched') return { kind: 'written', request: answer.object };
    if (answer.kind === 'missing') return { kind: 'gone' };
    if (answer.kind === 'invalid' || answer.by !== 'changed')
      return { kind: 'not', outcome: failed(answer.error) };
    const live = await ctx.client.get(rules.kind, keyOf(current));
    if (live === undefined || live.metadata.uid !== uid) return { kind: 'gone' };
    current = live;
  }
  return { kind: 'not', outcome: again('the request changes faster than it can be written') };
}

function identityOf({ metadata }: RequestObject): { ifVersion: string; ifUid: string } {
  const { uid, resourceVersion } = metadata;
  if (!uid || !resourceVersion)
    throw new Error('a request without uid and resourceVersion cannot be written safely');
  return { ifVersion: resourceVersion, ifUid: uid };
}
