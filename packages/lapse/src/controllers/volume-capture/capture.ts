// The arguments that the steps of one reconcile share, and the ways in which they wait.

import { minutes, plus, seconds } from '@lapse/base/instant';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import { type Patched, patchObject } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import type { ContentForm } from './decideSnapshot.ts';
import type { CaptureOptions } from './policy.ts';

/** The options, and the in-memory state of the process. */
export interface CaptureContext extends CaptureOptions {
  /** Requests whose create of a content got no response: this process may send it again. Key to uid. */
  readonly unanswered: Map<string, string>;
  /** The form of contents that the served CRD accepts, as far as known. */
  contentForm: ContentForm;
}

export interface Capture {
  readonly ctx: ReconcileContext;
  readonly request: VolumeCaptureRequest;
  /** The claim that is captured. */
  readonly claim: ObjectKey;
  readonly options: CaptureContext;
}

/** Writes an annotation into the request before the step that it records. */
export function recordStep(
  { ctx, request }: Capture,
  annotation: string,
  value: string,
): Promise<Patched<VolumeCaptureRequest>> {
  const isRecorded = request.metadata.annotations?.[annotation] === value;
  const patch = isRecorded ? undefined : { metadata: { annotations: { [annotation]: value } } };
  return patchObject(ctx, VolumeCaptureRequest, request, { patch });
}

// Events trigger the request. This interval covers missed events.
const SAFETY = minutes(5);
/** Interval without a watch, when no events arrive. */
const POLL = seconds(30);

/** Waits for a change of an object of this kind. */
export const waitForEvent = (ctx: ReconcileContext, why: string, kind: Kind): Outcome =>
  waitUntil(plus(ctx.now, ctx.cache.isSynced(kind) ? SAFETY : POLL), why);

/** A dry run ends here: without a keeper there is no owner. The request stays pending. */
export function wouldCapture({ ctx, request, claim }: Capture): Outcome {
  const note = `would capture claim ${claim.namespace}/${claim.name} (dry run)`;
  ctx.event(request, { type: 'Normal', reason: 'WouldCapture', action: 'Capture', note });
  return settled();
}
