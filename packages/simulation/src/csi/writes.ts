// Writes of the simulated storage controllers. A write of a list (finalizers) names the resourceVersion that was read;
// single fields are merged without one, as the stock controllers do.

import { type Kind, keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { again, type Outcome } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';

/** The object changed or was deleted since it was read. */
class StaleRead extends Error {}

export const retryStaleReads =
  (reconcile: (ctx: ReconcileContext) => Promise<Outcome>) =>
  async (ctx: ReconcileContext): Promise<Outcome> => {
    try {
      return await reconcile(ctx);
    } catch (error) {
      if (error instanceof StaleRead) return again('changed since read');
      throw error;
    }
  };

interface PatchOptions {
  readonly status?: boolean;
  /** Fails if the object changed since it was read. */
  readonly exact?: boolean;
}

export async function patchObject<T extends KubeObject>(
  { client }: ReconcileContext,
  kind: Kind<T>,
  object: T,
  patch: object,
  { status = false, exact = false }: PatchOptions = {},
): Promise<T> {
  const { uid, resourceVersion } = object.metadata;
  const result = await client.patch(
    kind,
    keyOf(object),
    { type: 'merge', patch },
    {
      ifUid: uid!,
      ...(exact ? { ifVersion: resourceVersion! } : {}),
      ...(status ? { subresource: 'status' as const } : {}),
    },
  );
  if (result.kind === 'patched') return result.object;
  if (result.kind === 'invalid') throw result.error;
  throw new StaleRead();
}

export const annotate = <T extends KubeObject>(
  ctx: ReconcileContext,
  kind: Kind<T>,
  object: T,
  annotations: Record<string, string | null>,
): Promise<T> => patchObject(ctx, kind, object, { metadata: { annotations } });

export const hasFinalizer = ({ metadata }: KubeObject, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) === true;

/** Does nothing if the finalizer is present. */
export async function addFinalizer<T extends KubeObject>(
  ctx: ReconcileContext,
  kind: Kind<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object;
  const finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  return patchObject(ctx, kind, object, { metadata: { finalizers } }, { exact: true });
}

/** Does nothing if the finalizers are absent. */
export async function removeFinalizers<T extends KubeObject>(
  ctx: ReconcileContext,
  kind: Kind<T>,
  object: T,
  ...removed: readonly string[]
): Promise<T> {
  const { finalizers = [] } = object.metadata;
  const left = finalizers.filter((name) => !removed.includes(name));
  if (left.length === finalizers.length) return object;
  const patch = { metadata: { finalizers: left.length === 0 ? null : left } };
  return patchObject(ctx, kind, object, patch, { exact: true });
}
