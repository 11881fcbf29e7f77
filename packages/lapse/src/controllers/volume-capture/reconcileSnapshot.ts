// Captures as a snapshot: checks the source, creates the keeper, records and creates one VolumeSnapshotContent, and
// waits for its status. After the content is recorded, the source is not checked again and the content is not created
// again.

import { assertNever } from '@lapse/base/assertNever';
import { keyOf } from '@lapse/kube/api/kind';
import { VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import type { Outcome } from '@lapse/runtime/outcome';
import { ANNOTATION_CONTENT_NAME, Reason } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { describeRetention } from '#requests/endings';
import { completed, endedBy, finishRequest } from '#requests/finish';
import { buildKeeper, ensureKeeper, waitForKeeper } from '#requests/keeper';
import { keeperName, snapshotName } from '#requests/names';
import { type Failure, failure, failureOf, isFailure, snapshotFailureOf } from '#requests/refusal';
import { computeEnd } from '#requests/ttl';
import { type Capture, recordStep, waitForEvent, wouldCapture } from './capture.ts';
import {
  buildContent,
  claimText,
  computeProgress,
  contentLost,
  contentProblem,
  recordedContent,
} from './decide.ts';
import { findContent, getSource } from './gather.ts';

export async function reconcileSnapshot(capture: Capture): Promise<Outcome> {
  const { request } = capture;
  const name = snapshotName(request.metadata.uid!);
  const existing = await findContent(capture, name);
  if (isFailure(existing)) return end(capture, existing);
  if (existing !== undefined) return proceed(capture, () => adoptContent(capture, existing));
  if (recordedContent(request) !== undefined && !isUnanswered(capture))
    return end(capture, contentLost(name));
  const source = await getSource(capture);
  if (isFailure(source)) return end(capture, source);
  return proceed(capture, (owner) =>
    createContent(capture, buildContent(request, owner, source.volume, source.class)),
  );
}

const isUnanswered = ({ ctx, request, options }: Capture): boolean =>
  options.unanswered.get(claimText(ctx.key)) === request.metadata.uid;

/** The content, or why this reconcile has none. */
type Content = VolumeSnapshotContent | Failure | Outcome;
const isOutcome = (content: VolumeSnapshotContent | Outcome): content is Outcome => !('metadata' in content);

/** Creates the keeper, then checks the content and creates it if needed. */
async function proceed(
  capture: Capture,
  contentFor: (owner: OwnerReference) => Promise<Content>,
): Promise<Outcome> {
  const { ctx, request, options } = capture;
  const wanted = buildKeeper(
    keeperName('snapshot', request.metadata.uid!),
    request,
    options.policy.retention,
  );
  const anchor = await ensureKeeper(ctx, { direct: options.direct, of: VolumeCaptureRequest }, wanted);
  switch (anchor.kind) {
    case 'failure':
      return end(capture, anchor);
    case 'unknown':
      return waitForKeeper(ctx);
    case 'dry':
      return wouldCapture(capture);
    case 'anchored': {
      const content = await contentFor(anchor.owner);
      if (isFailure(content)) return end(capture, content);
      if (isOutcome(content)) return content;
      const problem = contentProblem(content, anchor.owner);
      return problem === undefined ? watchContent(capture, content) : end(capture, problem);
    }
    default:
      return assertNever(anchor);
  }
}

function watchContent(capture: Capture, content: VolumeSnapshotContent): Promise<Outcome> | Outcome {
  const { ctx, request, claim, options } = capture;
  const progress = computeProgress(content, claimText(claim));
  const { name, uid } = content.metadata;
  const dataRef = { kind: content.kind, name: name!, uid: uid! };
  switch (progress.kind) {
    case 'waiting':
      return waitForEvent(ctx, 'snapshot', VolumeSnapshotContent);
    case 'failure':
      return finishRequest(ctx, options, request, endedBy(progress, { dataRef }));
    case 'ready': {
      const { policy, rules } = options;
      return finishRequest(ctx, options, request, (at) => {
        const ends = describeRetention(policy.retention, computeEnd(request, rules, at));
        const message = `VolumeSnapshotContent ${name} of claim ${claimText(claim)} is ready; ${ends}`;
        return completed(message, { dataRef });
      });
    }
    default:
      return assertNever(progress);
  }
}

/** Uses an existing content. If another controller created it, this request does not record it yet. */
async function adoptContent(capture: Capture, content: VolumeSnapshotContent): Promise<Content> {
  const name = content.metadata.name!;
  if (recordedContent(capture.request) !== undefined) return content;
  if (computeProgress(content, claimText(capture.claim)).kind !== 'waiting') return content;
  try {
    const recorded = await recordStep(capture, ANNOTATION_CONTENT_NAME, name);
    return 'outcome' in recorded ? recorded.outcome : content;
  } catch (error) {
    return failureOf(error, `recording VolumeSnapshotContent ${name}`);
  }
}

/**
 * One create, recorded in the request before. An existing content is a success if it belongs to the request; the
 * caller checks that.
 */
async function createContent(capture: Capture, content: VolumeSnapshotContent): Promise<Content> {
  const { ctx, options, request } = capture;
  const name = content.metadata.name!;
  const key = claimText(ctx.key);
  try {
    // Stays set when the record or the create throws: this process may then repeat it.
    options.unanswered.set(key, request.metadata.uid!);
    const recorded = await recordStep(capture, ANNOTATION_CONTENT_NAME, name);
    if ('outcome' in recorded) {
      options.unanswered.delete(key);
      return recorded.outcome;
    }
    const answer = await ctx.client.create(VolumeSnapshotContent, content);
    options.unanswered.delete(key);
    if (answer.kind === 'created') return answer.object;
    if (answer.kind === 'invalid')
      return failure(
        Reason.UnsupportedSnapshotStack,
        `VolumeSnapshotContent ${name} was refused; a snapshot stack that takes contents without a VolumeSnapshot is needed: ${answer.error.message}`,
      );
    return (await options.direct.get(ctx, VolumeSnapshotContent, keyOf(content))) ?? contentLost(name);
  } catch (error) {
    return snapshotFailureOf(error, `creating VolumeSnapshotContent ${name}`);
  }
}

const end = ({ ctx, request, options }: Capture, why: Failure): Promise<Outcome> =>
  finishRequest(ctx, options, request, endedBy(why));
