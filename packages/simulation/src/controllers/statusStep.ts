// Builds a simulated controller that only writes the status of its objects at given times, one step per reconcile.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Outcome, settled, terminal, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { patchStatus } from './patchStatus.ts';

export type StatusStep<Status extends object = object> =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'wait'; readonly until: Instant }
  /** Merged into the status. */
  | { readonly kind: 'write'; readonly status: Status };

export interface StatusSteps<T extends KubeObject> {
  readonly kind: Kind<T>;
  compute(object: T, now: Instant): StatusStep;
  /** Event reason for an invalid request. */
  readonly invalid: string;
  readonly waitsFor: string;
}

export const takeSteps =
  <T extends KubeObject>({ kind, compute, invalid, waitsFor }: StatusSteps<T>) =>
  async (ctx: ReconcileContext): Promise<Outcome> => {
    const object = ctx.cache.get(kind, ctx.key);
    if (object === undefined) return settled();
    const step = compute(object, ctx.now);
    switch (step.kind) {
      case 'nothing':
        return settled();
      case 'invalid':
        return terminal(invalid, step.problem);
      case 'wait':
        return waitUntil(step.until, waitsFor);
      case 'write':
        return patchStatus(ctx, kind, keyOf(object), { of: object, status: step.status });
      default:
        return assertNever(step);
    }
  };
