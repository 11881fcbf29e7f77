// Reads that bypass the cache: for cluster configuration, which is not watched, and for objects whose state makes a
// request fail.

import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';

export interface DirectReader {
  /** Reads the current object from the API server; undefined if it does not exist. */
  get<T extends KubeObject>(ctx: ReconcileContext, kind: Kind<T>, key: ObjectKey): Promise<T | undefined>;
}

export const directReader: DirectReader = { get: (ctx, kind, key) => ctx.client.get(kind, key) };

/** Reads from the cache or from the API server. */
export type Read = <T extends KubeObject>(kind: Kind<T>, key: ObjectKey) => Promise<T | undefined>;

export const cachedRead =
  (ctx: ReconcileContext): Read =>
  async (kind, key) =>
    ctx.cache.get(kind, key);

export const liveRead =
  (ctx: ReconcileContext, direct: DirectReader): Read =>
  (kind, key) =>
    direct.get(ctx, kind, key);

/** Throws if a dependency of a controller is missing, so that it fails at the start and not during a reconcile. */
export function requireAll<D extends object>(controller: string, needed: D): D {
  for (const [name, value] of Object.entries(needed))
    if (value === undefined || value === null) throw new Error(`controller ${controller} needs ${name}`);
  return needed;
}
