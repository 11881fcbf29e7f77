// The caches of one controller, found by kind.

import type { Kind } from '#api/kind';
import { describeKind } from '#api/kind';
import type { KubeObject } from '#api/object';
import type { CacheReader } from './cache.ts';
import type { CacheHandle } from './caches.ts';
import { kindId } from './definition.ts';
import type { KindReader } from './pass.ts';
import type { Source } from './source.ts';

export interface Share {
  readonly source: Source;
  readonly handle: CacheHandle<KubeObject>;
}

export function controllerReader(controller: string, shares: ReadonlyMap<string, Share>): KindReader {
  const of = <T extends KubeObject>(kind: Kind<T>): CacheReader<T> => {
    const share = shares.get(kindId(kind));
    if (share === undefined) throw new Error(`controller ${controller} does not watch ${describeKind(kind)}`);
    return share.handle.reader as unknown as CacheReader<T>;
  };
  return {
    get: (kind, key) => of(kind).get(key),
    list: (kind) => of(kind).list(),
    byIndex: (kind, index, value) => of(kind).byIndex(index, value),
  };
}
