// Detects what a controller has done with a change of an object: an accepted deletion, a finished request, a node
// removed from a pool. Pure.

import { isObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Change } from '@lapse/simulation/history';
import { refText } from '@lapse/simulation/refs';

export interface Result {
  readonly ref: string;
  /** `deleted`: the deletion is accepted. `finished` and `removed`: the object itself is kept. */
  readonly how: 'deleted' | 'finished' | 'removed';
  /** The controller. Undefined: the one that sent the request. */
  readonly by?: string;
}

const REQUESTS: Readonly<Record<string, string>> = {
  VolumeCaptureRequest: 'volume-capture',
  VolumeRestoreRequest: 'volume-restore',
  ManifestCaptureRequest: 'manifest-capture',
};

export function computeDone({ before, after, kind, namespace, name }: Change): readonly Result[] {
  const isDeleted = (object: KubeObject | undefined) =>
    object === undefined || object.metadata.deletionTimestamp !== undefined;
  if (isDeleted(before)) return [];
  const ref = refText(kind, namespace === undefined ? { name } : { namespace, name });
  if (isDeleted(after)) return [{ ref, how: 'deleted' }];
  const by = Object.hasOwn(REQUESTS, kind) ? REQUESTS[kind] : undefined;
  if (by !== undefined) return isReady(after) && !isReady(before) ? [{ ref, how: 'finished', by }] : [];
  if (kind !== 'ReplicatedStoragePool') return [];
  const stay = nodesOf(after);
  return [...nodesOf(before)]
    .filter((node) => !stay.has(node))
    .map((node) => ({ ref: `node/${node}`, how: 'removed', by: 'storage-pool' }));
}

const listIn = (object: KubeObject | undefined, field: string): readonly Record<string, unknown>[] => {
  const list = isObject(object?.status as never)
    ? (object!.status as Record<string, unknown>)[field]
    : undefined;
  return Array.isArray(list) ? list : [];
};

/** True for success and failure. */
const isReady = (object: KubeObject | undefined): boolean =>
  listIn(object, 'conditions').some(({ type }) => type === 'Ready');

const nodesOf = (object: KubeObject | undefined): ReadonlySet<string> =>
  new Set(listIn(object, 'eligibleNodes').map(({ nodeName }) => String(nodeName)));
