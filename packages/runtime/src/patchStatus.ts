// Patches of an object that a reconcile has read. Each patch carries the uid and resourceVersion that were read, so a
// decision is never written over a newer object.

import { equal, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Invalid, PatchResult } from '@lapse/kube/client/write';
import { again, failed, type Outcome, settled } from './outcome.ts';
import type { ReconcileContext } from './reconcileContext.ts';

/** If the object was not written, `outcome` is the outcome of the reconcile. */
export type Patched<T> =
  | { readonly kind: 'written' | 'unchanged'; readonly object: T }
  /** The object was deleted. */
  | { readonly kind: 'gone'; readonly outcome: Outcome }
  /** The object has changed since it was read, or another object has its name. */
  | { readonly kind: 'changed'; readonly outcome: Outcome; readonly error: ApiError }
  /** The API server does not accept the result of the patch. */
  | { readonly kind: 'refused'; readonly outcome: Outcome; readonly error: ApiError };

/** Fields of the status: null and undefined remove a field, omitted fields are not changed. */
type StatusFields<T extends { status?: object }> = {
  readonly [Field in keyof NonNullable<T['status']>]?: NonNullable<T['status']>[Field] | null | undefined;
};

/** Writes the fields of the status that differ, if any. */
export function patchStatus<T extends KubeObject & { status?: object }>(
  ctx: ReconcileContext,
  kind: Kind<T>,
  object: T,
  fields: StatusFields<T>,
): Promise<Patched<T>> {
  const status = differenceOf((object.status ?? {}) as JsonObject, fields as JsonObject, Object.keys(fields));
  return patchObject(ctx, kind, object, {
    patch: status === undefined ? undefined : { status },
    subresource: 'status',
  });
}

export interface ObjectPatch {
  /** A merge patch. Undefined: the object needs no change. */
  readonly patch: JsonObject | undefined;
  readonly subresource?: 'status';
  /** Only checks whether the API server would accept the patch. */
  readonly dryRun?: boolean;
}

/** Sends one merge patch. Throws errors that do not concern the content of the object. */
export async function patchObject<T extends KubeObject>(
  ctx: ReconcileContext,
  kind: Kind<T>,
  object: T,
  { patch, ...options }: ObjectPatch,
): Promise<Patched<T>> {
  if (patch === undefined) return { kind: 'unchanged', object };
  const { uid: ifUid, resourceVersion: ifVersion } = object.metadata;
  if (!ifUid || !ifVersion)
    throw new Error(`a ${kind.kind} without uid and resourceVersion cannot be patched safely`);
  const answer = await ctx.client
    .patch(kind, keyOf(object), { type: 'merge', patch }, { ...options, ifUid, ifVersion })
    .catch(tooLarge);
  return patchedOf(answer);
}

function patchedOf<T extends KubeObject>(answer: PatchResult<T>): Patched<T> {
  switch (answer.kind) {
    case 'patched':
      return { kind: 'written', object: answer.object };
    case 'missing':
      return { kind: 'gone', outcome: settled() };
    case 'conflict':
      // A webhook that denies with 409 would deny the retry as well.
      if (answer.by === 'admission') throw answer.error;
      return {
        kind: 'changed',
        outcome: again('the object has changed since it was read'),
        error: answer.error,
      };
    case 'invalid':
      return { kind: 'refused', outcome: failed(answer.error), error: answer.error };
  }
}

/** An object above the limits of the API server (413) or etcd (1.5 MiB) is refused. */
function tooLarge(error: unknown): Invalid {
  if (error instanceof ApiError && (error.code === 413 || error.message.includes('request is too large')))
    return { kind: 'invalid', error };
  throw error;
}

/** The merge patch that makes these keys of `before` equal to those of `after`. Undefined: they are equal. */
function differenceOf(
  before: JsonObject,
  after: JsonObject,
  keys: readonly string[],
): JsonObject | undefined {
  const changes = keys.flatMap((key): [string, Json][] => {
    const change = changeOf(before[key] ?? null, after[key] ?? null);
    return change === undefined ? [] : [[key, change]];
  });
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Null removes. Fields of a nested object that the new one lacks are removed one by one. */
function changeOf(before: Json, after: Json): Json | undefined {
  if (isObject(before) && isObject(after))
    return differenceOf(before, after, Object.keys({ ...before, ...after }));
  return equal(before, after) ? undefined : after;
}
