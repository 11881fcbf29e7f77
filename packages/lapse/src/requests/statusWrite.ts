// Writes that are repeated after a conflict: the status of a request, and its TTL annotation. Nothing else is. Each
// round is made for the version it was computed from; after a conflict the object is read and asked again whether there
// is anything left to write.

import type { JsonObject } from '@lapse/kube/api/json';
import { keyOf } from '@lapse/kube/api/kind';
import { again, failed, type Outcome } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';
import type { RequestObject } from '#api/storage/request';
import type { RequestRules } from './rules.ts';

const ROUNDS = 5;

export interface Change<T> {
  readonly subresource?: 'status';
  /** A merge patch, or undefined when this state of the object needs none. */
  patch(request: T): JsonObject | undefined;
}

export type Written<T> =
  | { readonly kind: 'written' | 'unneeded'; readonly request: T }
  /** It was deleted meanwhile, or another has its name. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'not'; readonly outcome: Outcome };

export async function writeRequest<T extends RequestObject>(
  pass: Pass,
  rules: RequestRules<T>,
  request: T,
  change: Change<T>,
): Promise<Written<T>> {
  const { uid } = request.metadata;
  let current = request;
  for (let round = 1; round <= ROUNDS; round++) {
    const body = change.patch(current);
    if (body === undefined) return { kind: 'unneeded', request: current };
    const answer = await pass.client.patch(
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
    const live = await pass.client.get(rules.kind, keyOf(current));
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
