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
import { cachedRead, liveRead } from '#requests/direct';
import { describeRetention } from '#requests/endings';
import { completed, endedBy, finishRequest } from '#requests/finish';
import { buildKeeper, ensureKeeper, waitForKeeper } from '#requests/keeper';
import { keeperName } from '#requests/names';
import { type Failure, failureOf, isFailure } from '#requests/refusal';
import { computeEnd } from '#requests/ttl';
import { reviewAuthor } from './author.ts';
import { type Capture, recordStep, waitForEvent, wouldCapture } from './capture.ts';
import { claimText } from './decide.ts';
import { computeMark } from './decideDetach.ts';
import { getDetachStep } from './gather.ts';

export async function reconcileDetach(capture: Capture): Promise<Outcome> {
  const { ctx, options } = capture;
  const cached = await getDetachStep(capture, cachedRead(ctx));
  if (cached.kind === 'waiting') return waitForEvent(ctx, 'claim deletion', PersistentVolumeClaim);
  // The following steps delete, mark or finish something. The cache may be stale, so they read from the API server.
  const step = await getDetachStep(capture, liveRead(ctx, options.direct));
  if (step.kind === 'failure') return end(capture, step);
  if (step.kind === 'waiting') return waitForEvent(ctx, 'claim deletion', PersistentVolumeClaim);
  const refusal = await reviewAuthor(options.authors, capture.request, capture.claim);
  if (refusal !== undefined) return end(capture, refusal);
  switch (step.kind) {
    case 'release':
      return release(capture, step.claim, step.volume);
    case 'released':
      return anchored(capture, (owner) =>
        mark(capture, { volume: step.volume, owner }, () => complete(capture, step.volume)),
      );
    default:
      return assertNever(step);
  }
}

async function release(
  capture: Capture,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<Outcome> {
  try {
    // After the claim is deleted, only this record refers to the volume.
    const remembered = await recordStep(capture, ANNOTATION_DETACH_PV_NAME, volume.metadata.name!);
    if ('outcome' in remembered) return remembered.outcome;
    const next = { ...capture, request: remembered.object };
    return await anchored(next, (owner) =>
      mark(next, { volume, owner, dryRun: true }, () => deleteClaim(next, claim, volume)),
    );
  } catch (error) {
    return end(capture, failureOf(error, `releasing PersistentVolume ${volume.metadata.name}`));
  }
}

async function deleteClaim(
  { ctx, options }: Capture,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<Outcome> {
  const decide = (live: PersistentVolumeClaim): Decision<'changed'> =>
    live.spec?.volumeName === volume.metadata.name
      ? { kind: 'delete', since: ctx.now }
      : { kind: 'keep', because: 'changed' };
  const target = { kind: PersistentVolumeClaim, object: claim, since: ctx.now, decide };
  const deletion = await options.expirer.expire(ctx, target);
  if (deletion.kind === 'deleted' || deletion.kind === 'terminating' || deletion.kind === 'gone')
    return waitForEvent(ctx, 'claim deletion', PersistentVolumeClaim);
  return outcomeOf(deletion, () => again('the claim changed'));
}

async function anchored(
  capture: Capture,
  then: (owner: OwnerReference) => Promise<Outcome>,
): Promise<Outcome> {
  const { ctx, request, options } = capture;
  const name = keeperName('pv', request.metadata.uid!);
  const wanted = buildKeeper(name, request, options.policy.detachRetention);
  const anchor = await ensureKeeper(ctx, { direct: options.direct, of: VolumeCaptureRequest }, wanted);
  switch (anchor.kind) {
    case 'failure':
      return end(capture, anchor);
    case 'unknown':
      return waitForKeeper(ctx);
    case 'dry':
      return wouldCapture(capture);
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
  capture: Capture,
  { volume, owner, dryRun }: Mark,
  then: () => Promise<Outcome>,
): Promise<Outcome> {
  const { ctx, options } = capture;
  const doing = `marking PersistentVolume ${volume.metadata.name}`;
  const patch = computeMark(volume, owner, options.policy.clearClaimRef);
  if (isFailure(patch)) return end(capture, patch);
  try {
    const marked = await patchObject(ctx, PersistentVolume, volume, {
      patch,
      ...(dryRun === undefined ? {} : { dryRun }),
    });
    if (marked.kind === 'refused') return await end(capture, failureOf(marked.error, doing));
    if ('outcome' in marked) return again('the volume changed');
  } catch (error) {
    return end(capture, failureOf(error, doing));
  }
  return then();
}

function complete(capture: Capture, volume: PersistentVolume): Promise<Outcome> {
  const { ctx, request, claim, options } = capture;
  const { name, uid } = volume.metadata;
  const { policy, rules } = options;
  const dataRef = { kind: PersistentVolume.kind, name: name!, uid: uid! };
  return finishRequest(ctx, options, request, (at) => {
    const ends = describeRetention(policy.detachRetention, computeEnd(request, rules, at));
    const message = `PersistentVolume ${name} is detached from claim ${claimText(claim)}; ${ends}`;
    return completed(message, { dataRef });
  });
}

const end = ({ ctx, request, options }: Capture, why: Failure): Promise<Outcome> =>
  finishRequest(ctx, options, request, endedBy(why));
