// Defines the controllers: one per kind that finishes.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import type { Registry } from '@lapse/runtime/metrics/registry';
import { deadlineOf } from '#deletion/expiry';
import type { Finishable } from '#deletion/finish/finishable';
import { GuardedDeletes, type GuardedDeletesOptions } from '#deletion/guardedDelete';
import type { SkewGuard } from '#deletion/skewGuard';
import { computeVerdict, isFinishedWithTtl } from './compute.ts';
import { finishableMetrics } from './metrics.ts';
import { ObjectRecords } from './objectRecords.ts';
import { createReconcile } from './reconcile.ts';
import { standbyChange } from './unansweredDelete.ts';

export interface TtlOptions {
  readonly clock: Clock;
  readonly guard: SkewGuard;
  readonly registry: Registry;
  readonly concurrency: number;
  readonly propagation: Propagation;
  readonly deletionEvents: boolean;
  /** Set: only Jobs or Pods of this namespace. */
  readonly namespace?: string;
  /** Options that apply to every deletion. */
  readonly deletion?: Pick<GuardedDeletesOptions, 'budget' | 'rereadFirst'>;
}

export function ttlAfterFinished<T extends KubeObject>(
  finishable: Finishable<T>,
  options: TtlOptions,
): ControllerDefinition<T> {
  const { clock, guard, registry, concurrency, propagation, deletionEvents } = options;
  const { kind, controller, queue, projection, fieldSelector } = finishable;
  const objectRecords = new ObjectRecords();
  const metrics = finishableMetrics({
    registry,
    clock,
    objectRecords,
    controller,
    kind: kind.kind,
    concurrency,
  });
  const deletes = new GuardedDeletes({ clock, guard, metrics: metrics.deletion, ...options.deletion });
  return defineController<T>({
    name: controller,
    for: kind,
    queue,
    concurrency,
    projection,
    facts: factsOf,
    countsAsAdded: (object) => isFinishedWithTtl(finishable, object),
    firstLook: (object) => scheduleFirst(finishable, object, { objectRecords, guard, clock }),
    onStandbyChange: (key, object) =>
      standbyChange({ objectRecords, metrics, clock, now: () => guard.now() }, key, object),
    onPause: () => objectRecords.stopActing(clock.elapsed()),
    rights: [{ group: kind.group, resource: kind.resource, verbs: ['get', 'delete'] }],
    reconcile: createReconcile({
      clock,
      finishable,
      guard,
      deletes,
      objectRecords,
      metrics,
      propagation,
      deletionEvents,
    }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
  });
}

/** All fields of a projection except its identity. */
export function factsOf({ metadata, spec, status }: KubeObject): unknown {
  const { deletionTimestamp, finalizers, annotations, ownerReferences } = metadata;
  return [deletionTimestamp, finalizers, annotations, ownerReferences, spec, status].map(
    (fact) => fact ?? null,
  );
}

/**
 * Objects of the initial list wait in timers: overdue ones in the order of their deadlines, others until theirs. From
 * here on they count as waiting. Objects that need a report are reconciled at once.
 */
function scheduleFirst<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  { objectRecords, guard, clock }: { objectRecords: ObjectRecords; guard: SkewGuard; clock: Clock },
): Instant | undefined {
  if (finishable.needsFirstSight?.(object)) {
    const reading = { now: guard.now(), elapsed: clock.elapsed() };
    objectRecords.recordListed(keyOf(object), object.metadata.uid ?? '', reading);
  }
  const verdict = computeVerdict(finishable, object, { now: guard.now(), tolerance: guard.maxSkew });
  if (verdict.kind === 'exempt' || verdict.kind === 'held') return undefined;
  if (verdict.kind === 'waiting' && verdict.ahead > 0) return undefined;
  const deadline = deadlineOf(verdict);
  // This process deleted the object before it lost the lease: it was counted, or is counted when its removal is seen.
  const isOwnDeletion = objectRecords.isOwnDeletion(keyOf(object), object.metadata.uid);
  if (deadline !== undefined && !isOwnDeletion) objectRecords.setDeadline(keyOf(object), deadline);
  return deadline;
}
