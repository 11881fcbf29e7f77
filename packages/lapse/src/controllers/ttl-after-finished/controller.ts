// Defines the controllers: one per kind that finishes.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import type { Registry } from '@lapse/runtime/metrics/registry';
import { afterDeadline } from '#deletion/deletionCounter';
import { Expirer } from '#deletion/expirer';
import type { GuardedDeletesOptions } from '#deletion/guardedDelete';
import { objectId } from '#deletion/ownDeletions';
import type { SkewGuard } from '#deletion/skewGuard';
import { type Basis, deadlineOf, describeBasis } from '#expiry/expiry';
import type { Finishable } from '#expiry/finishable';
import { computeVerdict, isFinishedWithTtl } from './compute.ts';
import { type FinishableMetrics, finishableMetrics } from './metrics.ts';
import { ObjectRecords } from './objectRecords.ts';
import { createReconcile } from './reconcile.ts';

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
  const { clock, guard, registry, concurrency, propagation } = options;
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
  const expirer = createExpirer(kind, options, { objectRecords, metrics });
  return defineController<T>({
    name: controller,
    for: kind,
    queue,
    concurrency,
    projection,
    facts: factsOf,
    countsAsAdded: (object) => isFinishedWithTtl(finishable, object),
    firstDeadline: (object) => scheduleFirst(finishable, object, { objectRecords, expirer, guard, clock }),
    onStandbyChange(key, object) {
      expirer.observeOnStandby(objectId(kind, key), object);
      if (object === undefined) objectRecords.forget(key);
    },
    onPause() {
      objectRecords.stopActing();
      expirer.pause();
    },
    rights: [{ group: kind.group, resource: kind.resource, verbs: ['get', 'delete'] }],
    reconcile: createReconcile({ clock, finishable, guard, expirer, objectRecords, metrics, propagation }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
  });
}

const COMPETING =
  'another controller deletes by the same TTLs, probably kube-controller-manager; disable its ttl-after-finished-controller. Dry run and extensions only apply to deletions by Lapse';

function createExpirer(
  { kind }: Kind,
  { clock, guard, deletion, deletionEvents }: TtlOptions,
  { objectRecords, metrics }: { objectRecords: ObjectRecords; metrics: FinishableMetrics },
): Expirer<Basis> {
  return new Expirer<Basis>({
    clock,
    guard,
    metrics: metrics.deletion,
    competing: { kind, counter: metrics.competing, warning: COMPETING },
    onDeleted(deleted) {
      if (deleted.outcome !== 'wouldDelete') objectRecords.clearDeadline(keyOf(deleted.object));
      metrics.deleted(kind, deleted);
    },
    deletionEvents,
    describe: ({ because, lag }) => `${describeBasis(because)}; deleted ${afterDeadline(lag)}`,
    ...deletion,
  });
}

/** All fields of a projection except its identity. */
export function factsOf({ metadata, spec, status }: KubeObject): unknown {
  const { deletionTimestamp, finalizers, annotations, ownerReferences } = metadata;
  return [deletionTimestamp, finalizers, annotations, ownerReferences, spec, status].map(
    (fact) => fact ?? null,
  );
}

interface FirstLook {
  readonly objectRecords: ObjectRecords;
  readonly expirer: Expirer<Basis>;
  readonly guard: SkewGuard;
  readonly clock: Clock;
}

/**
 * Objects of the initial list wait in timers: overdue ones in the order of their deadlines, others until theirs. From
 * here on they count as waiting. Objects that need a report are reconciled at once.
 */
function scheduleFirst<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  { objectRecords, expirer, guard, clock }: FirstLook,
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
  const isOwn = expirer.isOwn(objectId(finishable.kind, keyOf(object)), object.metadata.uid ?? '');
  if (deadline !== undefined && !isOwn) objectRecords.setDeadline(keyOf(object), deadline);
  return deadline;
}
