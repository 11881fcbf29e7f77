// The reconcile of one request: finished, or to be captured in its mode. Every result goes through finishRequest.

import { type Outcome, settled } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Reason } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { reconcileEnded } from '#requests/ended';
import { endedBy, finishRequest } from '#requests/finish';
import { failure, isFailure } from '#requests/refusal';
import type { CaptureContext } from './capture.ts';
import { claimText, computeClaimKey } from './decide.ts';
import { reconcileDetach } from './reconcileDetach.ts';
import { reconcileSnapshot } from './reconcileSnapshot.ts';

export async function reconcileCapture(ctx: ReconcileContext, options: CaptureContext): Promise<Outcome> {
  const request = ctx.cache.get(VolumeCaptureRequest, ctx.key);
  if (request === undefined) options.unanswered.delete(claimText(ctx.key));
  const ended = await reconcileEnded(ctx, request, options);
  if (ended !== undefined || request === undefined) return ended ?? settled();
  const { policy } = options;
  const mode = request.spec?.mode;
  if (mode !== 'Snapshot' && mode !== 'Detach') {
    const unknown = failure(Reason.InvalidMode, `spec.mode ${mode} is neither Snapshot nor Detach`);
    return finishRequest(ctx, options, request, endedBy(unknown));
  }
  const claim = computeClaimKey(request, policy.allowCrossNamespace);
  if (isFailure(claim)) return finishRequest(ctx, options, request, endedBy(claim));
  const capture = { ctx, request, claim, options };
  return mode === 'Snapshot' ? reconcileSnapshot(capture) : reconcileDetach(capture);
}
