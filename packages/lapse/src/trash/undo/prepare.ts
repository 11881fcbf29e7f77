// Prepares saved objects for undo: what to create, in which order, and what to skip. Pure.

import { formatTime, type Instant } from '@lapse/base/instant';
import type { KubeObject, OwnerReference } from '@lapse/kube/api/object';
import { Cleaner } from '#api/cleaner';
import { describeIdentity } from '#checkpoint/identity';
import { orderForRestore } from '#checkpoint/restore/order';
import { CapturedIndex, computeSkip } from '#checkpoint/restore/skip';
import { stripObject, typeOf } from '#checkpoint/restore/strip';
import { TTL_ANNOTATION } from '#expiry/expiry';
import { EXPIRES_ANNOTATION } from '#expiry/ttlAnnotation';
import type { TrashRecord } from '../record.ts';
import { isFinished, suspend } from './finished.ts';

export const RESTORED_AT = 'lapse.dev/restored-at';

export interface PrepareOptions {
  readonly now: Instant;
  /** The TTL annotation of restored objects; default: never. */
  readonly ttl?: string;
  /** Restore finished objects suspended, where the kind allows it. */
  readonly suspended?: boolean;
}

export interface Prepared {
  readonly record: TrashRecord;
  /** `apps/v1 Deployment shop/web`. */
  readonly what: string;
  /** What is created, without owners. */
  readonly object: KubeObject;
  /** The owners at the time of the deletion. */
  readonly owners: readonly OwnerReference[];
  /** Why the object is skipped. */
  readonly skip?: string;
  /** Notes for the user. */
  readonly notes: readonly string[];
}

/** Returns the objects in the order of their creation: owners before their dependents. */
export function prepareUndo(records: readonly TrashRecord[], options: PrepareOptions): Prepared[] {
  const captured = new CapturedIndex();
  for (const { object } of records) captured.add(object);
  const prepared = records.map((record) => prepare(record, captured, options));
  return ownersFirst(orderForRestore(prepared, ({ object }) => object));
}

function prepare(record: TrashRecord, captured: CapturedIndex, options: PrepareOptions): Prepared {
  const { object: saved } = record;
  const { apiVersion, kind, metadata } = saved;
  const { namespace = '', name = '', ownerReferences = [] } = metadata;
  const stripped = annotate(stripObject(saved), options);
  const about = {
    record,
    what: describeIdentity({ apiVersion, kind, namespace, name }),
    owners: ownerReferences,
    notes: notesOf(saved),
  };
  if (!isFinished(record)) {
    const skip = cleanerReason(saved) ?? computeSkip(saved, captured, { includeFinished: true });
    return { ...about, object: stripped, ...(skip === undefined ? {} : { skip }) };
  }
  const asleep = options.suspended === true ? suspend(stripped) : undefined;
  return asleep === undefined
    ? { ...about, object: stripped, skip: finishedReason(record, options, suspend(stripped) !== undefined) }
    : { ...about, object: asleep };
}

const cleanerReason = (object: KubeObject): string | undefined =>
  typeOf(object) === `${Cleaner.group}/${Cleaner.kind}` ? 'it would delete its targets again' : undefined;

function finishedReason(
  { metadata: { name: id } }: TrashRecord,
  { suspended }: PrepareOptions,
  canSuspend: boolean,
): string {
  const way = `"lapse trash show ${id}" prints its manifest`;
  if (canSuspend) return `it has finished and would run again; --suspended restores it suspended, ${way}`;
  const why = suspended === true ? ' and objects of its kind cannot be suspended' : '';
  return `it has finished and would run again${why}; ${way}`;
}

/** The same rule must not delete the object again at once. */
function annotate(object: KubeObject, { now, ttl = 'never' }: PrepareOptions): KubeObject {
  const { [EXPIRES_ANNOTATION]: _, ...annotations } = object.metadata.annotations ?? {};
  const metadata = {
    ...object.metadata,
    annotations: { ...annotations, [RESTORED_AT]: formatTime(now), [TTL_ANNOTATION]: ttl },
  };
  return { ...object, metadata };
}

function notesOf(saved: KubeObject): string[] {
  const notes: string[] = [];
  if (saved.metadata.annotations?.[EXPIRES_ANNOTATION] !== undefined)
    notes.push(`its annotation ${EXPIRES_ANNOTATION} is removed`);
  if (typeOf(saved) === '/PersistentVolumeClaim')
    notes.push('the claim is restored with a new, empty volume');
  return notes;
}

/** Keeps the order otherwise. Owner references have no cycles on an API server; a cycle would keep its order. */
function ownersFirst(prepared: readonly Prepared[]): Prepared[] {
  const byUid = new Map(prepared.map((one) => [one.record.object.metadata.uid, one]));
  const sorted = new Set<Prepared>();
  const visiting = new Set<Prepared>();
  const visit = (one: Prepared): void => {
    if (sorted.has(one) || visiting.has(one)) return;
    visiting.add(one);
    for (const { uid } of one.owners) {
      const owner = byUid.get(uid);
      if (owner !== undefined) visit(owner);
    }
    sorted.add(one);
  };
  for (const one of prepared) visit(one);
  return [...sorted];
}
