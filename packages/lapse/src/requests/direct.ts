// Reads that bypass the cache: for cluster configuration, which is not watched, and for objects whose state makes a
// request fail.

import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Pass } from '@lapse/runtime/pass';

export interface DirectReader {
  /** Reads the current object from the API server; undefined if it does not exist. */
  get<T extends KubeObject>(pass: Pass, kind: Kind<T>, key: ObjectKey): Promise<T | undefined>;
}

export const directReader: DirectReader = { get: (pass, kind, key) => pass.client.get(kind, key) };

/** Reads from the cache or from the API server. */
export type Read = <T extends KubeObject>(kind: Kind<T>, key: ObjectKey) => Promise<T | undefined>;

export const cachedRead =
  (pass: Pass): Read =>
  async (kind, key) =>
    pass.cache.get(kind, key);

export const liveRead =
  (pass: Pass, direct: DirectReader): Read =>
  (kind, key) =>
    direct.get(pass, kind, key);

/** Throws if a dependency of a controller is missing, so that it fails at the start and not during a reconcile. */
export function requireAll<D extends object>(controller: string, needed: D): D {
  for (const [name, value] of Object.entries(needed))
    if (value === undefined || value === null) throw new Error(`controller ${controller} needs ${name}`);
  return needed;
}
