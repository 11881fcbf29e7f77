// Reading past the cache: for configuration of the cluster, which is never watched, and for whatever a request is about
// to end over.

import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Pass } from '@lapse/runtime/pass';

export interface DirectReader {
  /** The object as the server has it now; undefined when there is none. */
  get<T extends KubeObject>(pass: Pass, kind: Kind<T>, key: ObjectKey): Promise<T | undefined>;
}

export const directReader: DirectReader = { get: (pass, kind, key) => pass.client.get(kind, key) };

/** From the cache or past it: the same question. */
export type Read = <T extends KubeObject>(kind: Kind<T>, key: ObjectKey) => Promise<T | undefined>;

export const cachedRead =
  (pass: Pass): Read =>
  async (kind, key) =>
    pass.cache.get(kind, key);

export const liveRead =
  (pass: Pass, direct: DirectReader): Read =>
  (kind, key) =>
    direct.get(pass, kind, key);

/** Refuses to build a controller that lacks something it needs: later it would fail in the middle of its work. */
export function requireAll<D extends object>(controller: string, needed: D): D {
  for (const [name, value] of Object.entries(needed))
    if (value === undefined || value === null) throw new Error(`controller ${controller} needs ${name}`);
  return needed;
}
