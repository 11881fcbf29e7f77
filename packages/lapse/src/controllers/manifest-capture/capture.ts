// The arguments that the steps of one reconcile share, and the ways in which a reconcile stops.

import { assertNever } from '@lapse/base/assertNever';
import type { Millis } from '@lapse/base/instant';
import type { OwnerReference } from '@lapse/kube/api/object';
import { type Outcome, settled } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { Reason } from '#api/storage/conditions';
import { buildKeeper, ensureKeeper, waitForKeeper } from '#requests/keeper';
import { keeperName } from '#requests/names';
import { type Failure, failureOf } from '#requests/refusal';
import type { ManifestOptions } from './policy.ts';

export interface Capture {
  readonly ctx: ReconcileContext;
  readonly request: ManifestCaptureRequest;
  readonly options: ManifestOptions;
  /** On the monotonic clock. */
  readonly started: Millis;
}

/** Ends this reconcile, not the request. */
export interface Stop {
  readonly kind: 'stop';
  readonly outcome: Outcome;
}
const stop = (outcome: Outcome): Stop => ({ kind: 'stop', outcome });

/** Ensures that the keeper exists. Its uid is needed for everything else. */
export async function anchor({
  ctx,
  request,
  options,
}: Capture): Promise<{ readonly kind: 'anchored'; readonly owner: OwnerReference } | Failure | Stop> {
  const wanted = buildKeeper(keeperName('mcr', request.metadata.uid!), request, options.policy.retention);
  const found = await ensureKeeper(ctx, { direct: options.direct, of: options.rules.kind }, wanted);
  switch (found.kind) {
    case 'anchored':
    case 'failure':
      return found;
    case 'unknown':
      return stop(waitForKeeper(ctx));
    case 'dry':
      return stop(wouldCapture(ctx, request));
    default:
      return assertNever(found);
  }
}

/** A dry run ends here: without a keeper there is no owner. The request stays pending. */
function wouldCapture(ctx: ReconcileContext, request: ManifestCaptureRequest): Outcome {
  const note = `would capture ${request.spec?.targets?.length ?? 0} targets (dry run)`;
  ctx.event(request, { type: 'Normal', reason: 'WouldCapture', action: 'Capture', note });
  return settled();
}

/** The failure that ends the request after a rejected call. Rethrows errors that are not responses. */
export function refusal(error: unknown, doing: string): Failure {
  const { reason, ...rest } = failureOf(error, doing);
  return { ...rest, reason: reason === Reason.InternalError ? Reason.Failed : reason };
}
