// Wiring as data: one controller per kind that finishes.

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
import { Ledger } from './ledger.ts';
import { finishableMetrics } from './metrics.ts';
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
  /** What the operator asks of every deletion. */
  readonly deletion?: Pick<GuardedDeletesOptions, 'budget' | 'rereadFirst'>;
}

export function ttlAfterFinished<T extends KubeObject>(
  finishable: Finishable<T>,
  options: TtlOptions,
): ControllerDefinition<T> {
  const { clock, guard, registry, concurrency, propagation, deletionEvents } = options;
  const { kind, controller, queue, projection, fieldSelector } = finishable;
  const ledger = new Ledger();
  const metrics = finishableMetrics({ registry, clock, ledger, controller, kind: kind.kind, concurrency });
  const deletes = new GuardedDeletes({ clock, guard, metrics: metrics.deletion, ...options.deletion });
  return defineController<T>({
    name: controller,
    for: kind,
    queue,
    concurrency,
    projection,
    facts: factsOf,
    countsAsAdded: (object) => isFinishedWithTtl(finishable, object),
    firstLook: (object) => noteFirst(finishable, object, { ledger, guard, clock }),
    onStandbyChange: (key, object) =>
      standbyChange({ ledger, metrics, clock, now: () => guard.now() }, key, object),
    onPause: () => ledger.rests(clock.elapsed()),
    rights: [{ group: kind.group, resource: kind.resource, verbs: ['get', 'delete'] }],
    reconcile: createReconcile({
      clock,
      finishable,
      guard,
      deletes,
      ledger,
      metrics,
      propagation,
      deletionEvents,
    }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
  });
}

/** A projection keeps nothing but identity and facts. */
export function factsOf({ metadata, spec, status }: KubeObject): unknown {
  const { deletionTimestamp, finalizers, annotations, ownerReferences } = metadata;
  return [deletionTimestamp, finalizers, annotations, ownerReferences, spec, status].map(
    (fact) => fact ?? null,
  );
}

/**
 * What the initial list brings goes through the timers: overdue ones in the order of their deadlines, the others not
 * before theirs. They are counted as waiting from here on. Anything that people must be told about is looked at now.
 */
function noteFirst<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  { ledger, guard, clock }: { ledger: Ledger; guard: SkewGuard; clock: Clock },
): Instant | undefined {
  if (finishable.needsFirstSight?.(object)) {
    const reading = { now: guard.now(), elapsed: clock.elapsed() };
    ledger.lists(keyOf(object), object.metadata.uid ?? '', reading);
  }
  const verdict = computeVerdict(finishable, object, { now: guard.now(), tolerance: guard.maxSkew });
  if (verdict.kind === 'exempt' || verdict.kind === 'held') return undefined;
  if (verdict.kind === 'waiting' && verdict.ahead > 0) return undefined;
  const deadline = deadlineOf(verdict);
  // Deleted by this process before it lost the lease: counted already, or when its removal is seen.
  const isOurs = ledger.isOurs(keyOf(object), object.metadata.uid);
  if (deadline !== undefined && !isOurs) ledger.expects(keyOf(object), deadline);
  return deadline;
}
