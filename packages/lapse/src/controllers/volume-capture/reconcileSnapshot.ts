// Captures as a snapshot: checks the source, creates the keeper, records and creates one VolumeSnapshotContent, and
// waits for its status. After the content is recorded, the source is not checked again and the content is not created
// again.

import { assertNever } from '@lapse/base/assertNever';
import { VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import type { CreateResult } from '@lapse/kube/client/write';
import { type Outcome, waitUntil } from '@lapse/runtime/outcome';
import { ANNOTATION_CONTENT_NAME, Reason } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import type { Decision } from '#deletion/deletion';
import { describeRetention } from '#requests/endings';
import { completed, endedBy, finishRequest } from '#requests/finish';
import { buildKeeper, ensureKeeper, waitForKeeper } from '#requests/keeper';
import { keeperName, snapshotName } from '#requests/names';
import { type Failure, failure, failureOf, isFailure, snapshotFailureOf } from '#requests/refusal';
import { computeEnd } from '#requests/ttl';
import { type Capture, recordStep, waitForEvent, wouldCapture } from './capture.ts';
import {
  buildContent,
  type ContentForm,
  claimText,
  computeProgress,
  contentLost,
  contentProblem,
  type Progress,
  recordedContent,
  timeoutOf,
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
    createContent(capture, (form) => buildContent(request, owner, source, form)),
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

const progressOf = (
  { ctx, request, claim, options }: Capture,
  content: VolumeSnapshotContent,
  now = ctx.now,
): Progress =>
  computeProgress(content, {
    claim: claimText(claim),
    timeout: timeoutOf(request, options.policy.timeout),
    now,
  });

function watchContent(capture: Capture, content: VolumeSnapshotContent): Promise<Outcome> | Outcome {
  const { ctx, request, options } = capture;
  const progress = progressOf(capture, content);
  switch (progress.kind) {
    case 'waiting':
      return waitForEvent(ctx, 'snapshot', VolumeSnapshotContent);
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
      return failCapture(capture, content, progress);
    case 'ready':
      return completeCapture(capture, content);
    default:
      return assertNever(progress);
  }
}

const dataRefTo = ({ kind, metadata }: VolumeSnapshotContent) => ({
  kind,
  name: metadata.name!,
  uid: metadata.uid!,
});

function completeCapture(capture: Capture, content: VolumeSnapshotContent): Promise<Outcome> {
  const { ctx, request, claim, options } = capture;
  const { policy, rules } = options;
  return finishRequest(ctx, options, request, (at) => {
    const ends = describeRetention(policy.retention, computeEnd(request, rules, at));
    const what = `VolumeSnapshotContent ${content.metadata.name} of claim ${claimText(claim)}`;
    return completed(`${what} is ready; ${ends}${describeRetained(content)}`, {
      dataRef: dataRefTo(content),
    });
  });
}

function describeRetained({ spec, status }: VolumeSnapshotContent): string {
  if (spec?.deletionPolicy !== 'Retain') return '';
  return `; the snapshot ${status?.snapshotHandle} stays in the storage system (driver ${spec.driver}) and must be deleted there`;
}

/**
 * The error lasted until the deadline. The cache may be stale, so the content is read from the API server: if it became
 * ready, the request completes. The end is written before the content is deleted, because it has the last error. If the
 * process stops in between, the content is deleted with the request. Without a timeout it always is.
 */
async function failCapture(
  capture: Capture,
  content: VolumeSnapshotContent,
  failed: Failure,
): Promise<Outcome> {
  const { ctx, request, options } = capture;
  if (timeoutOf(request, options.policy.timeout) === 0)
    return finishRequest(ctx, options, request, endedBy(failed, { dataRef: dataRefTo(content) }));
  const live = await options.direct.get(ctx, VolumeSnapshotContent, { name: content.metadata.name! });
  if (live !== undefined && progressOf(capture, live).kind !== 'failure') return watchContent(capture, live);
  let isEnded = false;
  const onEnd = () => {
    isEnded = true;
  };
  const outcome = await finishRequest(ctx, { ...options, onEnd }, request, endedBy(failed));
  if (isEnded && live !== undefined && live.metadata.deletionTimestamp === undefined)
    await options.expirer.expire(ctx, {
      kind: VolumeSnapshotContent,
      object: live,
      since: ctx.now,
      because: failed.message,
      decide: (): Decision<never> => ({ kind: 'delete', since: ctx.now }),
    });
  return outcome;
}

/** Uses an existing content. If another controller created it, this request does not record it yet. */
async function adoptContent(capture: Capture, content: VolumeSnapshotContent): Promise<Content> {
  const name = content.metadata.name!;
  if (recordedContent(capture.request) !== undefined) return content;
  if (progressOf(capture, content).kind !== 'waiting') return content;
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
async function createContent(
  capture: Capture,
  contentOf: (form: ContentForm) => VolumeSnapshotContent,
): Promise<Content> {
  const { ctx, options, request } = capture;
  const name = snapshotName(request.metadata.uid!);
  const key = claimText(ctx.key);
  try {
    // Stays set when the record or the create throws: this process may then repeat it.
    options.unanswered.set(key, request.metadata.uid!);
    const recorded = await recordStep(capture, ANNOTATION_CONTENT_NAME, name);
    if ('outcome' in recorded) {
      options.unanswered.delete(key);
      return recorded.outcome;
    }
    const answer = await createInServedForm(capture, contentOf);
    options.unanswered.delete(key);
    if (answer.kind === 'created') return answer.object;
    if (answer.kind === 'invalid')
      return failure(
        Reason.UnsupportedSnapshotStack,
        `VolumeSnapshotContent ${name} was refused: ${answer.error.message}`,
      );
    return (await options.direct.get(ctx, VolumeSnapshotContent, { name })) ?? contentLost(name);
  } catch (error) {
    return snapshotFailureOf(error, `creating VolumeSnapshotContent ${name}`);
  }
}

/** The CRD says which form it accepts: if it refuses a content without a reference, one with a reference is created. */
async function createInServedForm(
  { ctx, options }: Capture,
  contentOf: (form: ContentForm) => VolumeSnapshotContent,
): Promise<CreateResult<VolumeSnapshotContent>> {
  const answer = await ctx.client.create(VolumeSnapshotContent, contentOf(options.contentForm));
  if (answer.kind !== 'invalid' || options.contentForm === 'bound') return answer;
  const bound = await ctx.client.create(VolumeSnapshotContent, contentOf('bound'));
  if (bound.kind === 'created') options.contentForm = 'bound';
  return bound;
}

const end = ({ ctx, request, options }: Capture, why: Failure): Promise<Outcome> =>
  finishRequest(ctx, options, request, endedBy(why));
