// One saved object: the whole object as the API server returned it, with the rule that deleted it.

import { sha256 } from '@lapse/base/codec';
import { formatTime, type Instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import type { Origin, SaveRequest } from '#deletion/trash';

/** An item of a chunk. It has the form of a Kubernetes object, but no API server serves it. */
export interface TrashRecord extends KubeObject {
  apiVersion: typeof RECORD.apiVersion;
  kind: typeof RECORD.kind;
  /** The name is the id of the deletion. */
  metadata: { name: string };
  rule: string;
  author?: string;
  reason: string;
  /** The rule judged that the object had finished its work: created again, it would run again. */
  finished?: boolean;
  /** The deadline of the object. */
  deadline: string;
  /** When it was saved, which is just before its deletion. */
  savedAt: string;
  propagation?: Propagation;
  object: KubeObject;
}

const RECORD = { apiVersion: 'lapse.dev/v1alpha1', kind: 'TrashRecord' } as const;
const ID_DIGITS = 12;

/** The id of a deletion. The same version of an object has the same id, so that a repeated save is recognized. */
export const deletionId = ({ metadata: { uid, resourceVersion } }: KubeObject): string =>
  sha256(`${uid}/${resourceVersion}`).slice(0, ID_DIGITS);

/** `object`: the whole object in the version that is deleted. */
export function buildRecord(
  object: KubeObject,
  { origin, deadline, propagation }: Pick<SaveRequest, 'origin' | 'deadline' | 'propagation'>,
  now: Instant,
): TrashRecord {
  const { rule, author, reason, isFinished }: Origin = origin;
  return {
    ...RECORD,
    metadata: { name: deletionId(object) },
    rule,
    ...(author === undefined ? {} : { author }),
    reason,
    ...(isFinished === true ? { finished: true } : {}),
    deadline: formatTime(deadline),
    savedAt: formatTime(now),
    ...(propagation === undefined ? {} : { propagation }),
    object,
  };
}

export const isRecord = (item: KubeObject): item is TrashRecord => {
  const { rule, reason, savedAt, object } = item;
  const texts = [rule, reason, savedAt, item.metadata.name];
  return (
    item.kind === RECORD.kind &&
    texts.every((text) => typeof text === 'string') &&
    typeof object === 'object' &&
    object !== null &&
    'metadata' in object
  );
};
