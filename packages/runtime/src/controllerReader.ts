// Gives a controller access to its caches by kind.

import type { Kind } from '@lapse/kube/api/kind';
import { describeKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { CacheReader } from './cache.ts';
import type { CacheHandle } from './caches.ts';
import { kindId, type WatchDefinition } from './definition.ts';
import type { KindReader } from './reconcileContext.ts';
import type { Source } from './source.ts';

export interface Share {
  readonly source: Source & Pick<WatchDefinition, 'optional'>;
  readonly handle: CacheHandle<KubeObject>;
}

export function controllerReader(controller: string, shares: ReadonlyMap<string, Share>): KindReader {
  const shareOf = (kind: Kind): Share => {
    const share = shares.get(kindId(kind));
    if (share === undefined) throw new Error(`controller ${controller} does not watch ${describeKind(kind)}`);
    return share;
  };
  const of = <T extends KubeObject>(kind: Kind<T>): CacheReader<T> =>
    shareOf(kind as unknown as Kind).handle.reader as unknown as CacheReader<T>;
  return {
    isSynced: (kind) => shareOf(kind).handle.status.synced,
    get: (kind, key) => of(kind).get(key),
    list: (kind) => of(kind).list(),
    byIndex: (kind, index, value) => of(kind).byIndex(index, value),
  };
}
