// Captures by detaching: records the volume, creates the keeper, tries the mark on the volume as a dry run, deletes
// the claim, and marks the volume after the claim is deleted. Every step is idempotent. The claim is deleted only
// when all other steps are known to be accepted.

import { assertNever } from '@lapse/base/assertNever';
import { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import { again, type Outcome } from '@lapse/runtime/outcome';
import { patchObject } from '@lapse/runtime/patchStatus';
import { ANNOTATION_DETACH_PV_NAME } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { outcomeOf } from '#deletion/deletion';
import type { Decision } from '#deletion/guardedDelete';
import { cachedRead, liveRead, type Read } from '#requests/direct';
import { describeRetention } from '#requests/endings';
import { completed, endedBy, finishRequest } from '#requests/finish';
import { buildKeeper, ensureKeeper } from '#requests/keeper';
import { keeperName } from '#requests/names';
import { type Failure, failureOf, isFailure } from '#requests/refusal';
import { computeEnd } from '#requests/ttl';
import { reviewAuthor } from './author.ts';
import { claimText } from './compute.ts';
import { computeDetach, computeMark, type DetachStep, rememberedVolume } from './computeDetach.ts';
import { getUsers } from './pods.ts';
import { readVolume, recordStep, type Work, waitForEvent, waitForKeeper, wouldCapture } from './work.ts';

export async function reconcileDetach(work: Work): Promise<Outcome> {
  const { ctx, options } = work;
  const cached = await getStep(work, cachedRead(ctx));
  if (cached.kind === 'waiting') return waitForEvent(ctx, 'claim deletion', PersistentVolumeClaim);
  // The following steps delete, mark or finish something. The cache may be stale, so they read from the API server.
  const step = await getStep(work, liveRead(ctx, options.direct));
  if (step.kind === 'failure') return end(work, step);
  if (step.kind === 'waiting') return waitForEvent(ctx, 'claim deletion', PersistentVolumeClaim);
  const refusal = await reviewAuthor(options.authors, work.request, work.claim);
  if (refusal !== undefined) return end(work, refusal);
  switch (step.kind) {
    case 'release':
      return release(work, step.claim, step.volume);
    case 'released':
      return anchored(work, (owner) =>
        mark(work, { volume: step.volume, owner }, () => complete(work, step.volume)),
      );
    default:
      return assertNever(step);
  }
}

async function getStep({ ctx, request, claim: key }: Work, read: Read): Promise<DetachStep> {
  try {
    const claim = await read(PersistentVolumeClaim, key);
    const memory = rememberedVolume(request);
    const volumeName = memory ?? (claim?.spec?.volumeName || undefined);
    const volume = volumeName === undefined ? undefined : await readVolume(read, volumeName);
    const keeper = keeperName('pv', request.metadata.uid!);
    const users = await getUsers(ctx, key);
    return computeDetach({ key, claim, volumeName, volume, users, remembered: memory !== undefined, keeper });
  } catch (error) {
    return failureOf(error, 'looking for the volume');
  }
}

async function release(work: Work, claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<Outcome> {
  try {
    // After the claim is deleted, only this record refers to the volume.
    const remembered = await recordStep(work, ANNOTATION_DETACH_PV_NAME, volume.metadata.name!);
    if ('outcome' in remembered) return remembered.outcome;
    const next = { ...work, request: remembered.object };
    return await anchored(next, (owner) =>
      mark(next, { volume, owner, dryRun: true }, () => deleteClaim(next, claim, volume)),
    );
  } catch (error) {
    return end(work, failureOf(error, `releasing PersistentVolume ${volume.metadata.name}`));
  }
}

async function deleteClaim(
  { ctx, options }: Work,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<Outcome> {
  const decide = (live: PersistentVolumeClaim): Decision<'changed'> =>
    live.spec?.volumeName === volume.metadata.name
      ? { kind: 'delete', since: ctx.now }
      : { kind: 'keep', verdict: 'changed' };
  const target = { kind: PersistentVolumeClaim, object: claim, since: ctx.now, decide };
  const deletion = await options.deletes.delete(ctx, target);
  if (deletion.kind === 'deleted' || deletion.kind === 'terminating' || deletion.kind === 'gone')
    return waitForEvent(ctx, 'claim deletion', PersistentVolumeClaim);
  return outcomeOf(deletion, () => again('the claim changed'));
}

async function anchored(work: Work, then: (owner: OwnerReference) => Promise<Outcome>): Promise<Outcome> {
  const { ctx, request, options } = work;
  const name = keeperName('pv', request.metadata.uid!);
  const wanted = buildKeeper(name, request, options.policy.detachRetention);
  const anchor = await ensureKeeper(ctx, { direct: options.direct, of: VolumeCaptureRequest }, wanted);
  switch (anchor.kind) {
    case 'failure':
      return end(work, anchor);
    case 'unknown':
      return waitForKeeper(ctx);
    case 'dry':
      return wouldCapture(work);
    case 'anchored':
      return then(anchor.owner);
    default:
      return assertNever(anchor);
  }
}

interface Mark {
  readonly volume: PersistentVolume;
  readonly owner: OwnerReference;
  /** Only checks whether the API server would accept the patch: rights, admission, ownership. */
  readonly dryRun?: true;
}

async function mark(
  work: Work,
  { volume, owner, dryRun }: Mark,
  then: () => Promise<Outcome>,
): Promise<Outcome> {
  const { ctx, options } = work;
  const doing = `marking PersistentVolume ${volume.metadata.name}`;
  const patch = computeMark(volume, owner, options.policy.clearClaimRef);
  if (isFailure(patch)) return end(work, patch);
  try {
    const marked = await patchObject(ctx, PersistentVolume, volume, {
      patch,
      ...(dryRun === undefined ? {} : { dryRun }),
    });
    if (marked.kind === 'refused') return await end(work, failureOf(marked.error, doing));
    if ('outcome' in marked) return again('the volume changed');
  } catch (error) {
    return end(work, failureOf(error, doing));
  }
  return then();
}

function complete(work: Work, volume: PersistentVolume): Promise<Outcome> {
  const { ctx, request, claim, options } = work;
  const { name, uid } = volume.metadata;
  const { policy, rules } = options;
  const dataRef = { kind: PersistentVolume.kind, name: name!, uid: uid! };
  return finishRequest(ctx, options, request, (at) => {
    const ends = describeRetention(policy.detachRetention, computeEnd(request, rules, at));
    const message = `PersistentVolume ${name} is detached from claim ${claimText(claim)}; ${ends}`;
    return completed(message, { dataRef });
  });
}

const end = ({ ctx, request, options }: Work, why: Failure): Promise<Outcome> =>
  finishRequest(ctx, options, request, endedBy(why));
