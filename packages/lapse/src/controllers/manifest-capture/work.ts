// What the steps of one pass are handed, and the ways in which they stop.

import { assertNever } from '@lapse/base/assertNever';
import { type Millis, plus, seconds } from '@lapse/base/instant';
import type { OwnerReference } from '@lapse/kube/api/object';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';
import type { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { Reason } from '#api/storage/conditions';
import { buildKeeper, ensureKeeper } from '#requests/keeper';
import { keeperName } from '#requests/names';
import { type Failure, failureOf } from '#requests/refusal';
import type { ManifestOptions } from './policy.ts';

export interface Work {
  readonly pass: Pass;
  readonly request: ManifestCaptureRequest;
  readonly options: ManifestOptions;
  /** On the monotonic clock. */
  readonly started: Millis;
}

/** Not the end of the request, but of this pass. */
export interface Stop {
  readonly kind: 'stop';
  readonly outcome: Outcome;
}
const stop = (outcome: Outcome): Stop => ({ kind: 'stop', outcome });

const BARRIER = seconds(1);

/** Makes sure of the keeper, whose uid everything else needs. */
export async function anchor({
  pass,
  request,
  options,
}: Work): Promise<{ readonly kind: 'anchored'; readonly owner: OwnerReference } | Failure | Stop> {
  const wanted = buildKeeper(keeperName('mcr', request.metadata.uid!), request, options.policy.retention);
  const found = await ensureKeeper(pass, { direct: options.direct, of: options.rules.kind }, wanted);
  switch (found.kind) {
    case 'anchored':
    case 'failure':
      return found;
    case 'unknown':
      return stop(waitUntil(plus(pass.now, BARRIER), 'keeper uid'));
    case 'dry':
      return stop(wouldCapture(pass, request));
    default:
      return assertNever(found);
  }
}

/** A dry run ends here: without a keeper nothing can be owned. The request stays pending. */
function wouldCapture(pass: Pass, request: ManifestCaptureRequest): Outcome {
  const note = `would capture ${request.spec?.targets?.length ?? 0} targets (dry run)`;
  pass.event(request, { type: 'Normal', reason: 'WouldCapture', action: 'Capture', note });
  return settled();
}

/** How a refused call ends the request; throws what is not an answer. */
export function refusal(error: unknown, doing: string): Failure {
  const { reason, ...rest } = failureOf(error, doing);
  return { ...rest, reason: reason === Reason.InternalError ? Reason.Failed : reason };
}
