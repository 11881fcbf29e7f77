// The reconcile of one request: finished, or to be captured. Every result goes through finishRequest. The
// checkpoint's status is written before the request's, so a request never reports more than its checkpoint.

import { type Instant, millis, plus } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import { type Outcome, settled } from '@lapse/runtime/outcome';
import { patchStatus } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { Reason } from '#api/storage/conditions';
import { ChunkEncoder } from '#checkpoint/encode';
import { noAuthor, requestAuthor } from '#requests/author';
import { reconcileEnded } from '#requests/ended';
import { describeRetention } from '#requests/endings';
import { completed, type Ending, endedBy, finishRequest } from '#requests/finish';
import { type Failure, failure, isFailure } from '#requests/refusal';
import { computeEnd } from '#requests/ttl';
import {
  buildCheckpointEnd,
  checkpointProblem,
  computeCaptureId,
  computeCheckpointEnd,
  interrupted,
} from './compute.ts';
import type { ManifestOptions } from './policy.ts';
import { readManifests } from './read.ts';
import { getCheckpoint, getStored } from './resume.ts';
import { describeMissing, reviewTargets } from './rights.ts';
import { findTargets, type Target } from './targets.ts';
import { anchor, refusal, type Stop, type Work } from './work.ts';
import { ChunkWriter, type Stored } from './writer.ts';

export async function reconcileManifests(ctx: ReconcileContext, options: ManifestOptions): Promise<Outcome> {
  const request = ctx.cache.get(ManifestCaptureRequest, ctx.key);
  if (request === undefined) return settled();
  const ended = await reconcileEnded(ctx, request, options);
  if (ended !== undefined) return ended;
  const work: Work = { ctx, request, options, started: options.clock.elapsed() };
  const before = await getCheckpoint(work);
  if (isFailure(before)) return end(work, before);
  if (before === undefined) return capture(work, undefined);
  return proceed(work, before);
}

/** A checkpoint of this name exists: it belongs to another request, is finished, or is continued. */
async function proceed(work: Work, before: ManifestCheckpoint): Promise<Outcome> {
  const anchored = await anchor(work);
  if (anchored.kind === 'stop') return anchored.outcome;
  if (anchored.kind === 'failure') return end(work, anchored);
  const problem = checkpointProblem(before, work.request, anchored.owner);
  if (problem !== undefined) return end(work, problem);
  const ended = computeCheckpointEnd(before);
  if (ended === undefined) return capture(work, before);
  if (!ended.ready) return end(work, failure(ended.reason, ended.message));
  return finish(work, completionOf(work, before.metadata.name!, before.status?.totalObjects ?? 0));
}

async function capture(work: Work, before: ManifestCheckpoint | undefined): Promise<Outcome> {
  const targets = await getTargets(work);
  if (isFailure(targets)) return fail(work, before, targets);
  const captureId = computeCaptureId(work.request, targets, work.options.policy);
  const stored = before === undefined ? undefined : await getStored(work, before, targets, captureId);
  if (isFailure(stored)) return fail(work, before, stored);
  const writer = new ChunkWriter(work, captureId, stored);
  const done = await write(work, writer, targets.slice(stored?.from ?? 0));
  if ('chunks' in done) return complete(work, done);
  return done.kind === 'stop' ? done.outcome : fail(work, writer.checkpoint, done);
}

/** The targets, if the requester may read them. */
async function getTargets({ request, options }: Work): Promise<readonly Target[] | Failure> {
  const { policy, targets: client, seal } = options;
  try {
    const targets = await findTargets(request, client.discovery, policy);
    if (isFailure(targets) || policy.authorization !== 'Webhook') return targets;
    const author = await requestAuthor(seal, request);
    if (author.kind !== 'author') return noAuthor(author, request);
    const { subject } = author;
    const missing = await reviewTargets(client, subject, targets);
    return missing.length === 0 ? targets : failure(Reason.RBACDenied, describeMissing(subject, missing));
  } catch (error) {
    return refusal(error, 'asking what may be captured');
  }
}

/** Reads and writes in parallel. Memory holds at most one chunk, the chunks held back, and the pending reads. */
async function write(
  work: Work,
  writer: ChunkWriter,
  targets: readonly Target[],
): Promise<Stored | Failure | Stop> {
  const encoder = new ChunkEncoder();
  for await (const read of readManifests(work, targets)) {
    if (read.kind === 'failure') return read;
    if (read.manifest === undefined) continue;
    const encoded = encoder.add(read.manifest);
    if (encoded.kind === 'tooLarge') return tooLarge(encoded);
    const problem = await writer.take(encoded.chunks);
    if (problem !== undefined) return problem;
  }
  const rest = encoder.end();
  if (rest.kind === 'tooLarge') return tooLarge(rest);
  return (await writer.take(rest.chunks)) ?? writer.end();
}

const tooLarge = ({ object, why }: { readonly object: string; readonly why: string }): Failure =>
  failure(Reason.ObjectTooLarge, `${object} is too large for a checkpoint: ${why}`);

/** All chunks are stored and verified: marks the checkpoint as ready, then the request. */
async function complete(work: Work, { checkpoint, chunks }: Stored): Promise<Outcome> {
  const name = checkpoint.metadata.name!;
  const objects = chunks.reduce((sum, { objectsCount }) => sum + objectsCount, 0);
  const ready = completed(`${objects} objects in ${chunks.length} chunks`, {});
  const problem = await patchCheckpoint(work, checkpoint, ready, chunks);
  if (problem !== undefined) return end(work, problem);
  work.options.metrics.captured(
    objects,
    chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  );
  return finish(work, completionOf(work, name, objects));
}

/** A capture may take longer than a TTL, so the time of its end is reported and counts. */
const completionOf =
  ({ request, options }: Work, name: string, objects: number) =>
  (at: Instant): Ending => {
    const ends = describeRetention(options.policy.retention, computeEnd(request, options.rules, at));
    return completed(`ManifestCheckpoint ${name} has ${objects} objects; ${ends}`, { checkpointName: name });
  };

/** The capture failed: writes the failure to the checkpoint, if it exists, then to the request. */
async function fail(work: Work, checkpoint: ManifestCheckpoint | undefined, why: Failure): Promise<Outcome> {
  if (checkpoint !== undefined) await patchCheckpoint(work, checkpoint, endedBy(why), []);
  return end(work, why);
}

/** The reconcile argument with the current time, because a capture takes long. */
function afterwards({ ctx, options, started }: Work): ReconcileContext {
  const took = Math.max(0, Math.floor(options.clock.elapsed() - started));
  return { ...ctx, now: plus(ctx.now, millis(took)) };
}

const end = (work: Work, why: Failure): Promise<Outcome> => finish(work, endedBy(why));

function finish(work: Work, ending: Ending | ((at: Instant) => Ending)): Promise<Outcome> {
  const { request, options, started } = work;
  const { rules, guard, metrics, clock } = options;
  const onEnd = ({ reason }: Ending) => metrics.ended(reason, (clock.elapsed() - started) / 1000);
  return finishRequest(afterwards(work), { rules, guard, onEnd }, request, ending);
}

/** The only write of the checkpoint's status. */
async function patchCheckpoint(
  work: Work,
  checkpoint: ManifestCheckpoint,
  ending: Ending,
  chunks: Stored['chunks'],
): Promise<Failure | undefined> {
  const { ctx, options } = work;
  const { name, uid } = checkpoint.metadata;
  const status = buildCheckpointEnd(chunks, ending, afterwards(work).now);
  try {
    const patched = await patchStatus(ctx, ManifestCheckpoint, checkpoint, status);
    if (!('outcome' in patched)) return undefined;
    if (patched.kind === 'refused')
      return failure(
        Reason.Failed,
        `the status of ManifestCheckpoint ${name} was refused: ${patched.error.message}`,
      );
    const live = await options.direct.get(ctx, ManifestCheckpoint, keyOf(checkpoint));
    if (patched.kind === 'changed' && live?.metadata.uid === uid) throw patched.error;
    return interrupted(`ManifestCheckpoint ${name} was deleted while it was written`);
  } catch (error) {
    return refusal(error, `writing the status of ManifestCheckpoint ${name}`);
  }
}
