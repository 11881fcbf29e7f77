// Capture as a snapshot: check the source, anchor the keeper, create one VolumeSnapshotContent, wait for what the
// storage system says about it. Once the content exists nothing else is looked at again.

import { keyOf } from '#api/kind';
import { Reason } from '#api/kinds/storage/conditions';
import { VolumeCaptureRequest } from '#api/kinds/volumeCaptureRequest';
import {
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '#api/kinds/volumes';
import type { OwnerReference } from '#api/object';
import { assertNever } from '#base/assertNever';
import { cachedRead, liveRead, type Read } from '#lifecycle/requests/direct';
import { describeRetention } from '#lifecycle/requests/endings';
import { completed, endedBy, finishRequest } from '#lifecycle/requests/finish';
import { buildKeeper, ensureKeeper } from '#lifecycle/requests/keeper';
import { keeperName, snapshotName } from '#lifecycle/requests/names';
import { type Failure, failure, failureOf, isFailure } from '#lifecycle/requests/refusal';
import { computeEnd } from '#lifecycle/requests/ttl';
import type { Outcome } from '#runtime/outcome';
import {
  buildContent,
  type CsiVolume,
  claimText,
  computeClass,
  computeClassName,
  computeCsiVolume,
  computeProgress,
  computeVolumeName,
  contentProblem,
} from './compute.ts';
import { readVolume, type Work, waitForEvent, waitForKeeper, wouldCapture } from './work.ts';

export async function reconcileSnapshot(work: Work): Promise<Outcome> {
  const { pass, request } = work;
  const existing = pass.cache.get(VolumeSnapshotContent, { name: snapshotName(request.metadata.uid!) });
  if (existing !== undefined) return proceed(work, async () => existing);
  const source = await getSource(work);
  if (isFailure(source)) return end(work, source);
  return proceed(work, (owner) =>
    createContent(work, buildContent(request, owner, source.volume, source.class)),
  );
}

/** Anchors the keeper, then looks at the content, which may have to be created first. */
async function proceed(
  work: Work,
  contentFor: (owner: OwnerReference) => Promise<VolumeSnapshotContent | Failure>,
): Promise<Outcome> {
  const { pass, request, options } = work;
  const wanted = buildKeeper(
    keeperName('snapshot', request.metadata.uid!),
    request,
    options.policy.retention,
  );
  const anchor = await ensureKeeper(pass, { direct: options.direct, of: VolumeCaptureRequest }, wanted);
  switch (anchor.kind) {
    case 'failure':
      return end(work, anchor);
    case 'unknown':
      return waitForKeeper(pass);
    case 'dry':
      return wouldCapture(work);
    case 'anchored': {
      const content = await contentFor(anchor.owner);
      if (isFailure(content)) return end(work, content);
      const problem = contentProblem(content, anchor.owner);
      return problem === undefined ? watchContent(work, content) : end(work, problem);
    }
    default:
      return assertNever(anchor);
  }
}

function watchContent(work: Work, content: VolumeSnapshotContent): Promise<Outcome> | Outcome {
  const { pass, request, claim, options } = work;
  const progress = computeProgress(content, claimText(claim));
  const { name, uid } = content.metadata;
  const dataRef = { kind: content.kind, name: name!, uid: uid! };
  switch (progress.kind) {
    case 'waiting':
      return waitForEvent(pass, 'snapshot');
    case 'failure':
      return finishRequest(pass, options, request, endedBy(progress, { dataRef }));
    case 'ready': {
      const { policy, rules } = options;
      return finishRequest(pass, options, request, (at) => {
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

/** What is captured and how. A cache may be behind, so no request ends over something that only the cache says. */
async function getSource(work: Work): Promise<Source | Failure> {
  const { pass, options } = work;
  const found = await findSource(work, cachedRead(pass));
  return isFailure(found) ? findSource(work, liveRead(pass, options.direct)) : found;
}

async function findSource(work: Work, read: Read): Promise<Source | Failure> {
  const { pass, request, claim: key, options } = work;
  const direct = liveRead(pass, options.direct);
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
    return failureOf(error, 'looking for the source');
  }
}

/** Only asked for when the request does not name a snapshot class itself. */
async function getStorageClass(
  { pass, request, options }: Work,
  claim: PersistentVolumeClaim,
): Promise<StorageClass | undefined> {
  const name = claim.spec?.storageClassName;
  if (request.spec?.volumeSnapshotClassName || !name) return undefined;
  return options.direct.get(pass, StorageClass, { name });
}

/** One create. That it exists is as good, if it is ours; whose it is, the caller checks. */
async function createContent(
  { pass, options }: Work,
  content: VolumeSnapshotContent,
): Promise<VolumeSnapshotContent | Failure> {
  const name = content.metadata.name!;
  try {
    const answer = await pass.client.create(VolumeSnapshotContent, content);
    if (answer.kind === 'created') return answer.object;
    if (answer.kind === 'invalid')
      return failure(
        Reason.UnsupportedSnapshotStack,
        `VolumeSnapshotContent ${name} was refused; a snapshot stack that takes contents without a VolumeSnapshot is needed: ${answer.error.message}`,
      );
    const live = await options.direct.get(pass, VolumeSnapshotContent, keyOf(content));
    if (live === undefined) throw answer.error;
    return live;
  } catch (error) {
    return failureOf(error, `creating VolumeSnapshotContent ${name}`);
  }
}

const end = ({ pass, request, options }: Work, why: Failure): Promise<Outcome> =>
  finishRequest(pass, options, request, endedBy(why));
