// What ends in one change of an object, and whose work that is: the object itself, when its deletion is accepted; a
// request, when it is told how it ended; the stay of a node in a pool. Pure.

import { isObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Change } from '@lapse/simulation/history';
import { refText } from '@lapse/simulation/refs';

export interface End {
  readonly ref: string;
  /** The deletion is accepted; or it is done, or left out, and stays where it is. */
  readonly how: 'deleted' | 'done' | 'left';
  /** Whose work it is; undefined: that of whoever asked for it. */
  readonly by?: string;
}

const REQUESTS: Readonly<Record<string, string>> = {
  VolumeCaptureRequest: 'volume-capture',
  VolumeRestoreRequest: 'volume-restore',
  ManifestCaptureRequest: 'manifest-capture',
};

export function computeEnds({ before, after, kind, namespace, name }: Change): readonly End[] {
  const isEnding = (object: KubeObject | undefined) =>
    object === undefined || object.metadata.deletionTimestamp !== undefined;
  if (isEnding(before)) return [];
  const ref = refText(kind, namespace === undefined ? { name } : { namespace, name });
  if (isEnding(after)) return [{ ref, how: 'deleted' }];
  const by = Object.hasOwn(REQUESTS, kind) ? REQUESTS[kind] : undefined;
  if (by !== undefined) return isReady(after) && !isReady(before) ? [{ ref, how: 'done', by }] : [];
  if (kind !== 'ReplicatedStoragePool') return [];
  const stay = nodesOf(after);
  return [...nodesOf(before)]
    .filter((node) => !stay.has(node))
    .map((node) => ({ ref: `node/${node}`, how: 'left', by: 'storage-pool' }));
}

const listIn = (object: KubeObject | undefined, field: string): readonly Record<string, unknown>[] => {
  const list = isObject(object?.status as never)
    ? (object!.status as Record<string, unknown>)[field]
    : undefined;
  return Array.isArray(list) ? list : [];
};

/** Whatever the answer: it is there. */
const isReady = (object: KubeObject | undefined): boolean =>
  listIn(object, 'conditions').some(({ type }) => type === 'Ready');

const nodesOf = (object: KubeObject | undefined): ReadonlySet<string> =>
  new Set(listIn(object, 'eligibleNodes').map(({ nodeName }) => String(nodeName)));
