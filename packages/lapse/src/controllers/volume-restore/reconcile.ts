// The reconcile of one restore: checks that the source exists, creates the keeper, and waits until the claim of the
// provisioner is bound. It creates nothing except the keeper.

import { assertNever } from '@lapse/base/assertNever';
import { instant, isDue, minutes, parseTime, plus, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { PersistentVolumeClaim, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import { patchObject } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { ANNOTATION_KEEPER_REF, Reason } from '#api/storage/conditions';
import { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { reconcileEnded } from '#requests/ended';
import { completed, type Ending, endedBy, finishRequest } from '#requests/finish';
import { buildKeeper, ensureKeeper, waitForKeeper } from '#requests/keeper';
import { keeperName } from '#requests/names';
import { type Failure, failure, failureOf, isFailure } from '#requests/refusal';
import {
  computeReported,
  computeSource,
  computeTarget,
  computeUnservedAt,
  ignoredFields,
  isUnserved,
  type SourceRef,
} from './decide.ts';
import { execute, isExecutor, lastProblem, removeClaim, removeHelpers } from './execute.ts';
import { getSourceState, getTarget, isRestored, type Restore } from './gather.ts';
import type { RestoreOptions } from './policy.ts';
import { reportsAbout } from './provisionerEvents.ts';

const SAFETY = minutes(5);
/** Interval without a watch, when no events arrive. */
const POLL = seconds(30);

export async function reconcileRestore(ctx: ReconcileContext, options: RestoreOptions): Promise<Outcome> {
  const request = ctx.cache.get(VolumeRestoreRequest, ctx.key);
  const ended = await reconcileEnded(ctx, request, options);
  if (ended !== undefined || request === undefined) return ended ?? settled();
  const source = computeSource(request);
  const target = computeTarget(request, options.policy.allowCrossNamespace);
  if (isFailure(source)) return finish(ctx, options, request, endedBy(source));
  if (isFailure(target)) return finish(ctx, options, request, endedBy(target));
  const restore: Restore = { ctx, request, options, target };
  const state = await getSourceState(restore, source);
  // A bound claim does not need its source any more.
  if (isFailure(state)) return (await isRestored(restore)) ? anchor(restore, source) : end(restore, state);
  return state.kind === 'waiting' ? wait(restore, 'source') : anchor(restore, source);
}

async function anchor(restore: Restore, source: SourceRef): Promise<Outcome> {
  const { ctx, request, options } = restore;
  const wanted = buildKeeper(keeperName('pvc', request.metadata.uid!), request, { mode: 'FollowObject' });
  const found = await ensureKeeper(ctx, { direct: options.direct, of: VolumeRestoreRequest }, wanted);
  switch (found.kind) {
    case 'failure':
      return end(restore, found);
    case 'unknown':
      return waitForKeeper(ctx);
    case 'dry': {
      const note = `would wait for claim ${restore.target.name} (dry run)`;
      ctx.event(request, { type: 'Normal', reason: 'WouldRestore', action: 'Restore', note });
      return settled();
    }
    case 'anchored':
      return (await offerKeeper(restore, found.owner)) ?? (await serve(restore, source, found.owner));
    default:
      return assertNever(found);
  }
}

/** Writes the keeper of the claim into the request, for the provisioner. Returns undefined if that is not needed. */
async function offerKeeper(restore: Restore, owner: OwnerReference): Promise<Outcome | undefined> {
  const { ctx, request, options } = restore;
  if (options.policy.ownership === 'None') return undefined;
  const { apiVersion, kind, name, uid } = owner;
  const text = [apiVersion, kind, name, uid].join('|');
  if (request.metadata.annotations?.[ANNOTATION_KEEPER_REF] === text) return undefined;
  const patch = { metadata: { annotations: { [ANNOTATION_KEEPER_REF]: text } } };
  try {
    const patched = await patchObject(ctx, VolumeRestoreRequest, request, { patch });
    // The change itself triggers the next reconcile.
    return 'outcome' in patched ? patched.outcome : settled();
  } catch (error) {
    return end(restore, failureOf(error, 'naming the keeper'));
  }
}

/** Restores the volume, or leaves it to an external provisioner, and observes the claim. */
async function serve(restore: Restore, source: SourceRef, owner: OwnerReference): Promise<Outcome> {
  if (!(await isExecutor(restore))) return observe(restore, undefined);
  const step = await execute(restore, source, owner);
  if (step === undefined) return observe(restore, owner);
  if (!isFailure(step)) return step;
  await removeHelpers(restore, owner);
  return end(restore, step);
}

/** Checks the claim and the Events of the provisioner. `helpers`: the owner of the helpers, if Lapse restores. */
async function observe(restore: Restore, helpers: OwnerReference | undefined): Promise<Outcome> {
  const { ctx, request, options } = restore;
  const reported = computeReported(reportsAbout(ctx.cache, request), request, options.policy.reporters);
  if (reported !== undefined) return end(restore, reported);
  try {
    const { claim, state } = await getTarget(restore);
    switch (state.kind) {
      case 'failure':
        return await end(restore, state);
      case 'waiting':
        return helpers === undefined || claim === undefined
          ? wait(restore, 'claim')
          : await waitForVolume(restore, claim, helpers);
      case 'bound':
        if (helpers !== undefined) await removeHelpers(restore, helpers);
        return await complete(restore, claim!);
      default:
        return assertNever(state);
    }
  } catch (error) {
    return end(restore, failureOf(error, 'reading the claim'));
  }
}

function complete(
  { ctx, request, options, target }: Restore,
  claim: PersistentVolumeClaim,
): Promise<Outcome> {
  const name = `${target.namespace}/${target.name}`;
  const whose =
    options.policy.ownership === 'None'
      ? "it is its user's and stays when this request is deleted"
      : 'it ends when this request is deleted, unless another owner keeps it';
  const ref = { name: target.name, namespace: target.namespace!, uid: claim.metadata.uid! };
  const ending = completed(`PersistentVolumeClaim ${name} is restored; ${whose}`, { targetPVCRef: ref });
  return finish(ctx, options, request, ending);
}

/** The claim of this request is not bound yet. An error of the provisioner that lasts ends the request. */
async function waitForVolume(
  restore: Restore,
  claim: PersistentVolumeClaim,
  helpers: OwnerReference,
): Promise<Outcome> {
  const { ctx, request, options } = restore;
  const problem = await lastProblem(restore, claim);
  if (problem === undefined) return waitUntil(plus(ctx.now, POLL), 'volume');
  const until = plus(parseTime(claim.metadata.creationTimestamp ?? ''), options.policy.timeout);
  const note = `PersistentVolumeClaim ${claim.metadata.namespace}/${claim.metadata.name}: ${problem}`;
  if (!isDue(until, ctx.now)) {
    const report = { because: note, reason: 'RestoreRetried', note };
    options.expirer.reportOnce(ctx, VolumeRestoreRequest, request, report);
    return waitUntil(instant(Math.min(until, plus(ctx.now, POLL))), 'volume');
  }
  await removeClaim(restore, claim);
  await removeHelpers(restore, helpers);
  return end(restore, failure(Reason.RestoreFailed, note));
}

/** Waits for the provisioner. After ten minutes, a message reports that no provisioner responds. */
function wait({ ctx, request, target }: Restore, what: string): Outcome {
  const watched = [PersistentVolumeClaim, VolumeSnapshotContent].every((kind) =>
    ctx.cache.isSynced(kind as Kind),
  );
  const look = plus(ctx.now, watched ? SAFETY : POLL);
  if (!isUnserved(request, ctx.now))
    return waitUntil(instant(Math.min(look, computeUnservedAt(request))), what);
  const note = `still waiting for ${what === 'claim' ? `claim ${target.namespace}/${target.name}` : 'the source'}: is there a provisioner that serves VolumeRestoreRequests?`;
  ctx.event(request, { type: 'Warning', reason: 'WaitingForProvisioner', action: 'Wait', note });
  return waitUntil(look, what);
}

const end = ({ ctx, request, options }: Restore, why: Failure): Promise<Outcome> =>
  finish(ctx, options, request, endedBy(why));

function finish(
  ctx: ReconcileContext,
  options: RestoreOptions,
  request: VolumeRestoreRequest,
  ending: Ending,
): Promise<Outcome> {
  const ignored = ignoredFields(request);
  const message = [ending.message, ...ignored.map((field) => `${field} is ignored`)].join('; ');
  return finishRequest(ctx, options, request, { ...ending, message });
}
