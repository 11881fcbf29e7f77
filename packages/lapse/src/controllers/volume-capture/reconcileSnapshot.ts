// Captures as a snapshot: checks the source, creates the keeper, records and creates one artifact (a VolumeSnapshotContent,
// or with `snapshot.via` a VolumeSnapshot), and waits for its status. After the artifact is recorded, the source is not
// checked again and the artifact is not created again.

import { assertNever } from '@lapse/base/assertNever';
import { VolumeSnapshot, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import type { CreateResult } from '@lapse/kube/client/write';
import { type Outcome, waitUntil } from '@lapse/runtime/outcome';
import { ANNOTATION_CONTENT_NAME, Reason } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import type { Decision } from '#deletion/deletion';
import { describeRetention } from '#requests/endings';
import { completed, endedBy, finishRequest } from '#requests/finish';
import { buildKeeper, ensureKeeper, waitForKeeper } from '#requests/keeper';
import { keeperName } from '#requests/names';
import { type Failure, failure, failureOf, isFailure, snapshotFailureOf } from '#requests/refusal';
import { computeEnd } from '#requests/ttl';
import { type Capture, recordStep, waitForEvent, wouldCapture } from './capture.ts';
import { claimText, type SnapshotSource } from './decide.ts';
import {
  type Artifact,
  artifactLost,
  artifactProblem,
  artifactText,
  buildContent,
  buildSnapshot,
  computeProgress,
  type Progress,
  recordedArtifact,
  timeoutOf,
} from './decideSnapshot.ts';
import { artifactKey, artifactKind, findArtifact, getSource } from './gather.ts';

export async function reconcileSnapshot(capture: Capture): Promise<Outcome> {
  const { request } = capture;
  const existing = await findArtifact(capture);
  if (isFailure(existing)) return end(capture, existing);
  if (existing !== undefined) return proceed(capture, () => adoptArtifact(capture, existing));
  if (recordedArtifact(request) !== undefined && !isUnanswered(capture))
    return end(capture, artifactLost(textOf(capture)));
  const source = await getSource(capture);
  if (isFailure(source)) return end(capture, source);
  return proceed(capture, (owner) => createArtifact(capture, source, owner));
}

const isUnanswered = ({ ctx, request, options }: Capture): boolean =>
  options.unanswered.get(claimText(ctx.key)) === request.metadata.uid;

/** `VolumeSnapshotContent name`, for messages. */
const textOf = (capture: Capture): string => artifactText(artifactKind(capture).kind, artifactKey(capture));

/** The artifact, or why this reconcile has none. */
type Found = Artifact | Failure | Outcome;
const isOutcome = (found: Artifact | Outcome): found is Outcome => !('metadata' in found);

/** Creates the keeper, then checks the artifact and creates it if needed. */
async function proceed(
  capture: Capture,
  artifactFor: (owner: OwnerReference) => Promise<Found>,
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
      const artifact = await artifactFor(anchor.owner);
      if (isFailure(artifact)) return end(capture, artifact);
      if (isOutcome(artifact)) return artifact;
      const problem = artifactProblem(artifact, anchor.owner);
      return problem === undefined ? watchArtifact(capture, artifact) : end(capture, problem);
    }
    default:
      return assertNever(anchor);
  }
}

const progressOf = ({ ctx, request, claim, options }: Capture, artifact: Artifact, now = ctx.now): Progress =>
  computeProgress(artifact, {
    claim: claimText(claim),
    timeout: timeoutOf(request, options.policy.timeout),
    now,
  });

function watchArtifact(capture: Capture, artifact: Artifact): Promise<Outcome> | Outcome {
  const { ctx, request, options } = capture;
  const progress = progressOf(capture, artifact);
  switch (progress.kind) {
    case 'waiting':
      return waitForEvent(ctx, 'snapshot', artifactKind(capture));
    case 'retrying': {
      const { error, until } = progress;
      options.expirer.reportOnce(ctx, VolumeCaptureRequest, request, {
        because: error,
        reason: 'SnapshotRetried',
        note: error,
      });
      return waitUntil(until, 'snapshot error');
    }
    case 'failure':
      return failCapture(capture, artifact, progress);
    case 'ready':
      return completeCapture(capture, artifact);
    default:
      return assertNever(progress);
  }
}

const dataRefTo = ({ kind, metadata }: Artifact) => ({
  kind,
  name: metadata.name!,
  uid: metadata.uid!,
});

/** The content of the snapshot; undefined if a VolumeSnapshot is not bound to one. Restores need the content. */
async function contentOf(
  { ctx, options }: Capture,
  artifact: Artifact,
): Promise<VolumeSnapshotContent | undefined> {
  if (!isSnapshot(artifact)) return artifact;
  const name = artifact.status?.boundVolumeSnapshotContentName;
  const content = name && (await options.direct.get(ctx, VolumeSnapshotContent, { name }));
  return content && content.spec?.volumeSnapshotRef?.uid === artifact.metadata.uid ? content : undefined;
}

const isSnapshot = (artifact: Artifact): artifact is VolumeSnapshot => artifact.kind === VolumeSnapshot.kind;

async function completeCapture(capture: Capture, artifact: Artifact): Promise<Outcome> {
  const { ctx, request, claim, options } = capture;
  const { policy, rules } = options;
  let content: VolumeSnapshotContent | undefined;
  try {
    content = await contentOf(capture, artifact);
  } catch (error) {
    return end(capture, failureOf(error, `reading the content of ${textOf(capture)}`));
  }
  if (content === undefined) return waitForEvent(ctx, 'content', artifactKind(capture));
  const found = content;
  return finishRequest(ctx, options, request, (at) => {
    const ends = describeRetention(policy.retention, computeEnd(request, rules, at));
    const what = `VolumeSnapshotContent ${found.metadata.name} of claim ${claimText(claim)}`;
    return completed(`${what} is ready; ${ends}${describeRetained(found)}`, { dataRef: dataRefTo(found) });
  });
}

function describeRetained({ spec, status }: VolumeSnapshotContent): string {
  if (spec?.deletionPolicy !== 'Retain') return '';
  return `; the snapshot ${status?.snapshotHandle} stays in the storage system (driver ${spec.driver}) and must be deleted there`;
}

/**
 * The error lasted until the deadline. The cache may be stale, so the artifact is read from the API server: if it became
 * ready, the request completes. The end is written before the artifact is deleted, because it has the last error. If the
 * process stops in between, the artifact is deleted with the request. Without a timeout it always is.
 */
async function failCapture(capture: Capture, artifact: Artifact, failed: Failure): Promise<Outcome> {
  const { ctx, request, options } = capture;
  if (timeoutOf(request, options.policy.timeout) === 0)
    return finishRequest(ctx, options, request, endedBy(failed, { dataRef: dataRefTo(artifact) }));
  const kind = artifactKind(capture);
  const live = await options.direct.get(ctx, kind, artifactKey(capture));
  if (live !== undefined && progressOf(capture, live).kind !== 'failure') return watchArtifact(capture, live);
  let isEnded = false;
  const onEnd = () => {
    isEnded = true;
  };
  const outcome = await finishRequest(ctx, { ...options, onEnd }, request, endedBy(failed));
  if (isEnded && live !== undefined && live.metadata.deletionTimestamp === undefined)
    await options.expirer.expire(ctx, {
      kind,
      object: live,
      since: ctx.now,
      because: failed.message,
      decide: (): Decision<never> => ({ kind: 'delete', since: ctx.now }),
    });
  return outcome;
}

/** Uses an existing artifact. If another controller created it, this request does not record it yet. */
async function adoptArtifact(capture: Capture, artifact: Artifact): Promise<Found> {
  if (recordedArtifact(capture.request) !== undefined) return artifact;
  if (progressOf(capture, artifact).kind !== 'waiting') return artifact;
  try {
    const recorded = await recordStep(capture, ANNOTATION_CONTENT_NAME, artifact.metadata.name!);
    return 'outcome' in recorded ? recorded.outcome : artifact;
  } catch (error) {
    return failureOf(error, `recording ${textOf(capture)}`);
  }
}

/**
 * One create, recorded in the request before. An existing artifact is a success if it belongs to the request; the
 * caller checks that.
 */
async function createArtifact(
  capture: Capture,
  source: SnapshotSource,
  owner: OwnerReference,
): Promise<Found> {
  const { ctx, options, request } = capture;
  const place = artifactKey(capture);
  const key = claimText(ctx.key);
  try {
    // Stays set when the record or the create throws: this process may then repeat it.
    options.unanswered.set(key, request.metadata.uid!);
    const recorded = await recordStep(capture, ANNOTATION_CONTENT_NAME, place.name);
    if ('outcome' in recorded) {
      options.unanswered.delete(key);
      return recorded.outcome;
    }
    const answer = await create(capture, source, owner);
    options.unanswered.delete(key);
    if (answer.kind === 'created') return answer.object;
    if (answer.kind === 'invalid')
      return failure(
        Reason.UnsupportedSnapshotStack,
        `${textOf(capture)} was refused: ${answer.error.message}`,
      );
    return (await options.direct.get(ctx, artifactKind(capture), place)) ?? artifactLost(textOf(capture));
  } catch (error) {
    return snapshotFailureOf(error, `creating ${textOf(capture)}`);
  }
}

/**
 * The CRD says which form of a content it accepts: if it refuses one without a reference, one with a reference is
 * created.
 */
async function create(
  { ctx, options, request, claim }: Capture,
  source: SnapshotSource,
  owner: OwnerReference,
): Promise<CreateResult<Artifact>> {
  if (options.policy.via === 'VolumeSnapshot')
    return ctx.client.create(VolumeSnapshot, buildSnapshot(request, owner, claim, source));
  const form = options.contentForm;
  const answer = await ctx.client.create(VolumeSnapshotContent, buildContent(request, owner, source, form));
  if (answer.kind !== 'invalid' || form === 'bound') return answer;
  const bound = await ctx.client.create(VolumeSnapshotContent, buildContent(request, owner, source, 'bound'));
  if (bound.kind === 'created') options.contentForm = 'bound';
  return bound;
}

const end = ({ ctx, request, options }: Capture, why: Failure): Promise<Outcome> =>
  finishRequest(ctx, options, request, endedBy(why));
