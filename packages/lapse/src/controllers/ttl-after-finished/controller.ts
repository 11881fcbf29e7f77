// Defines the controllers: one per kind that finishes.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { afterDeadline } from '#deletion/deletionCounter';
import { Expirer } from '#deletion/expirer';
import { type Basis, describeBasis } from '#expiry/expiry';
import type { Finishable } from '#expiry/finishable';
import type { Services } from '../family.ts';
import { isFinishedWithTtl } from './decide.ts';
import { finishableMetrics } from './metrics.ts';
import { ObjectRecords } from './objectRecords.ts';
import { FinishedObjects } from './reconcile.ts';

export interface TtlOptions
  extends Pick<Services, 'clock' | 'guard' | 'registry' | 'namespace' | 'deletion'> {
  readonly concurrency: number;
  readonly propagation: Propagation;
  readonly deletionEvents: boolean;
}

const COMPETING =
  'another controller deletes by the same TTLs, probably kube-controller-manager; disable its ttl-after-finished-controller. Dry run and extensions only apply to deletions by Lapse';

export function ttlAfterFinished<T extends KubeObject>(
  finishable: Finishable<T>,
  options: TtlOptions,
): ControllerDefinition<T> {
  const { clock, guard, registry, concurrency, propagation, deletionEvents, namespace } = options;
  const { kind, controller, queue, projection, fieldSelector } = finishable;
  const records = new ObjectRecords();
  const metrics = finishableMetrics({ registry, clock, records, controller, kind: kind.kind, concurrency });
  const expirer = new Expirer<Basis>({
    clock,
    guard,
    metrics: metrics.deletion,
    competing: { kind: kind.kind, counter: metrics.competing, warning: COMPETING },
    onDeleted: (deleted) => objects.countDeleted(deleted),
    deletionEvents,
    describe: ({ because, lag }) => `${describeBasis(because)}; deleted ${afterDeadline(lag)}`,
    origin: ({ because }) => ({
      rule: `the TTL of the ${kind.kind}`,
      reason: describeBasis(because),
      isFinished: true,
      isOwnTtl: true,
    }),
    ...options.deletion?.(controller),
  });
  const objects = new FinishedObjects<T>({
    clock,
    guard,
    finishable,
    expirer,
    records,
    metrics,
    propagation,
  });
  return defineController<T>({
    name: controller,
    for: kind,
    queue,
    concurrency,
    projection,
    facts: factsOf,
    countsAsAdded: (object) => isFinishedWithTtl(finishable, object),
    firstDeadline: (object) => objects.firstDeadline(object),
    onStandbyChange: (key, object) => objects.observeOnStandby(key, object),
    onPause: () => objects.pause(),
    rights: [{ group: kind.group, resource: kind.resource, verbs: ['get', 'delete'] }],
    reconcile: (ctx) => objects.reconcile(ctx),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(namespace === undefined ? {} : { namespace }),
  });
}

/** All fields of a projection except its identity. */
export function factsOf({ metadata, spec, status }: KubeObject): unknown {
  const { deletionTimestamp, finalizers, annotations, ownerReferences } = metadata;
  return [deletionTimestamp, finalizers, annotations, ownerReferences, spec, status].map(
    (fact) => fact ?? null,
  );
}
