// The reconcile of one request: finished, or to be captured in its mode. Every result goes through finishRequest.

import { type Outcome, settled } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';
import { Reason } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { reconcileEnded } from '#requests/ended';
import { endedBy, finishRequest } from '#requests/finish';
import { failure, isFailure } from '#requests/refusal';
import { claimText, computeClaimKey } from './compute.ts';
import { reconcileDetach } from './detach.ts';
import { reconcileSnapshot } from './snapshot.ts';
import type { CaptureContext } from './work.ts';

export async function reconcileCapture(pass: Pass, options: CaptureContext): Promise<Outcome> {
  const request = pass.cache.get(VolumeCaptureRequest, pass.key);
  if (request === undefined) {
    options.unanswered.delete(claimText(pass.key));
    return settled();
  }
  const ended = await reconcileEnded(pass, request, options);
  if (ended !== undefined) return ended;
  const { policy } = options;
  const mode = request.spec?.mode;
  if (mode !== 'Snapshot' && mode !== 'Detach') {
    const unknown = failure(Reason.InvalidMode, `spec.mode ${mode} is neither Snapshot nor Detach`);
    return finishRequest(pass, options, request, endedBy(unknown));
  }
  const claim = computeClaimKey(request, policy.allowCrossNamespace);
  if (isFailure(claim)) return finishRequest(pass, options, request, endedBy(claim));
  const work = { pass, request, claim, options };
  return mode === 'Snapshot' ? reconcileSnapshot(work) : reconcileDetach(work);
}
