// Captures as a snapshot: checks the source, creates the keeper, records and creates one VolumeSnapshotContent, and
// waits for its status. After the content is recorded, the source is not checked again and the content is not created
// again.

import { assertNever } from '@lapse/base/assertNever';
import { keyOf } from '@lapse/kube/api/kind';
import {
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import type { Outcome } from '@lapse/runtime/outcome';
import { ANNOTATION_CONTENT_NAME, Reason } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { cachedRead, liveRead, type Read } from '#requests/direct';
import { describeRetention } from '#requests/endings';
import { completed, endedBy, finishRequest } from '#requests/finish';
import { buildKeeper, ensureKeeper } from '#requests/keeper';
import { keeperName, snapshotName } from '#requests/names';
import { type Failure, failure, failureOf, isFailure, snapshotFailureOf } from '#requests/refusal';
import { computeEnd } from '#requests/ttl';
import {
  buildContent,
  type CsiVolume,
  claimText,
  computeClass,
  computeClassName,
  computeCsiVolume,
  computeProgress,
  computeVolumeName,
  contentLost,
  contentProblem,
  recordedContent,
} from './compute.ts';
import { readVolume, recordStep, type Work, waitForEvent, waitForKeeper, wouldCapture } from './work.ts';

export async function reconcileSnapshot(work: Work): Promise<Outcome> {
  const { request } = work;
  const name = snapshotName(request.metadata.uid!);
  const existing = await findContent(work, name);
  if (isFailure(existing)) return end(work, existing);
  if (existing !== undefined) return proceed(work, () => adoptContent(work, existing));
  if (recordedContent(request) !== undefined && !isUnanswered(work)) return end(work, contentLost(name));
  const source = await getSource(work);
  if (isFailure(source)) return end(work, source);
  return proceed(work, (owner) =>
    createContent(work, buildContent(request, owner, source.volume, source.class)),
  );
}

const isUnanswered = ({ ctx, request, options }: Work): boolean =>
  options.unanswered.get(claimText(ctx.key)) === request.metadata.uid;

/** The cache may be stale: a content whose creation was started is missing only if the API server says so. */
async function findContent(
  { ctx, request, options }: Work,
  name: string,
): Promise<VolumeSnapshotContent | Failure | undefined> {
  const cached = ctx.cache.get(VolumeSnapshotContent, { name });
  if (cached !== undefined || recordedContent(request) === undefined) return cached;
  try {
    return await options.direct.get(ctx, VolumeSnapshotContent, { name });
  } catch (error) {
    return snapshotFailureOf(error, `reading VolumeSnapshotContent ${name}`);
  }
}

/** The content, or why this reconcile has none. */
type Content = VolumeSnapshotContent | Failure | Outcome;
const isOutcome = (content: VolumeSnapshotContent | Outcome): content is Outcome => !('metadata' in content);

/** Creates the keeper, then checks the content and creates it if needed. */
async function proceed(
  work: Work,
  contentFor: (owner: OwnerReference) => Promise<Content>,
): Promise<Outcome> {
  const { ctx, request, options } = work;
  const wanted = buildKeeper(
    keeperName('snapshot', request.metadata.uid!),
    request,
    options.policy.retention,
  );
  const anchor = await ensureKeeper(ctx, { direct: options.direct, of: VolumeCaptureRequest }, wanted);
  switch (anchor.kind) {
    case 'failure':
      return end(work, anchor);
    case 'unknown':
      return waitForKeeper(ctx);
    case 'dry':
      return wouldCapture(work);
    case 'anchored': {
      const content = await contentFor(anchor.owner);
      if (isFailure(content)) return end(work, content);
      if (isOutcome(content)) return content;
      const problem = contentProblem(content, anchor.owner);
      return problem === undefined ? watchContent(work, content) : end(work, problem);
    }
    default:
      return assertNever(anchor);
  }
}

function watchContent(work: Work, content: VolumeSnapshotContent): Promise<Outcome> | Outcome {
  const { ctx, request, claim, options } = work;
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

interface Source {
  readonly volume: CsiVolume;
  readonly class: VolumeSnapshotClass;
}

/** What is captured and how. A cache may be stale, so no request fails because of cached state alone. */
async function getSource(work: Work): Promise<Source | Failure> {
  const { ctx, options } = work;
  const found = await findSource(work, cachedRead(ctx));
  return isFailure(found) ? findSource(work, liveRead(ctx, options.direct)) : found;
}

async function findSource(work: Work, read: Read): Promise<Source | Failure> {
  const { ctx, request, claim: key, options } = work;
  const direct = liveRead(ctx, options.direct);
  try {
    const claim = await read(PersistentVolumeClaim, key);
    const volumeName = computeVolumeName(claim, key);
    if (isFailure(volumeName)) return volumeName;
    const volume = computeCsiVolume(await readVolume(read, volumeName), claim!);
    if (isFailure(volume)) return volume;
    const storageClass = await getStorageClass(work, claim!);
    const className = computeClassName(request, claim!, storageClass);
    if (isFailure(className)) return className;
    const snapshotClass = computeClass(
      await direct(VolumeSnapshotClass, { name: className }),
      className,
      volume,
    );
    return isFailure(snapshotClass) ? snapshotClass : { volume, class: snapshotClass };
  } catch (error) {
    return snapshotFailureOf(error, 'looking for the source');
  }
}

/** Read only if the request sets no snapshot class. */
async function getStorageClass(
  { ctx, request, options }: Work,
  claim: PersistentVolumeClaim,
): Promise<StorageClass | undefined> {
  const name = claim.spec?.storageClassName;
  if (request.spec?.volumeSnapshotClassName || !name) return undefined;
  return options.direct.get(ctx, StorageClass, { name });
}

/** Uses an existing content. If another controller created it, this request does not record it yet. */
async function adoptContent(work: Work, content: VolumeSnapshotContent): Promise<Content> {
  const name = content.metadata.name!;
  if (recordedContent(work.request) !== undefined) return content;
  if (computeProgress(content, claimText(work.claim)).kind !== 'waiting') return content;
  try {
    const recorded = await recordStep(work, ANNOTATION_CONTENT_NAME, name);
    return 'outcome' in recorded ? recorded.outcome : content;
  } catch (error) {
    return failureOf(error, `recording VolumeSnapshotContent ${name}`);
  }
}

/**
 * One create, recorded in the request before. An existing content is a success if it belongs to the request; the
 * caller checks that.
 */
async function createContent(work: Work, content: VolumeSnapshotContent): Promise<Content> {
  const { ctx, options, request } = work;
  const name = content.metadata.name!;
  const key = claimText(ctx.key);
  try {
    // Stays set when the record or the create throws: this process may then repeat it.
    options.unanswered.set(key, request.metadata.uid!);
    const recorded = await recordStep(work, ANNOTATION_CONTENT_NAME, name);
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

const end = ({ ctx, request, options }: Work, why: Failure): Promise<Outcome> =>
  finishRequest(ctx, options, request, endedBy(why));
