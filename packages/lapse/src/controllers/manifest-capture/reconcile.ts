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
import { reconcileEnded } from '#requests/ended';
import { describeRetention } from '#requests/endings';
import { completed, type Ending, endedBy, finishRequest } from '#requests/finish';
import { type Failure, failure, isFailure } from '#requests/refusal';
import { computeEnd } from '#requests/ttl';
import { anchor, type Capture, refusal, type Stop } from './capture.ts';
import { ChunkWriter, type Stored } from './chunkWriter.ts';
import {
  buildCheckpointEnd,
  checkpointProblem,
  computeCaptureId,
  computeCheckpointEnd,
  interrupted,
} from './decide.ts';
import { getCheckpoint, getStored, getTargets } from './gather.ts';
import type { ManifestOptions } from './policy.ts';
import { readManifests } from './readManifests.ts';
import type { Target } from './targets.ts';

export async function reconcileManifests(ctx: ReconcileContext, options: ManifestOptions): Promise<Outcome> {
  const request = ctx.cache.get(ManifestCaptureRequest, ctx.key);
  const ended = await reconcileEnded(ctx, request, options);
  if (ended !== undefined || request === undefined) return ended ?? settled();
  const capture: Capture = { ctx, request, options, started: options.clock.elapsed() };
  const before = await getCheckpoint(capture);
  if (isFailure(before)) return end(capture, before);
  if (before === undefined) return captureTargets(capture, undefined);
  return proceed(capture, before);
}

/** A checkpoint of this name exists: it belongs to another request, is finished, or is continued. */
async function proceed(capture: Capture, before: ManifestCheckpoint): Promise<Outcome> {
  const anchored = await anchor(capture);
  if (anchored.kind === 'stop') return anchored.outcome;
  if (anchored.kind === 'failure') return end(capture, anchored);
  const problem = checkpointProblem(before, capture.request, anchored.owner);
  if (problem !== undefined) return end(capture, problem);
  const ended = computeCheckpointEnd(before);
  if (ended === undefined) return captureTargets(capture, before);
  if (!ended.ready) return end(capture, failure(ended.reason, ended.message));
  return finish(capture, completionOf(capture, before.metadata.name!, before.status?.totalObjects ?? 0));
}

async function captureTargets(capture: Capture, before: ManifestCheckpoint | undefined): Promise<Outcome> {
  const targets = await getTargets(capture);
  if (isFailure(targets)) return fail(capture, before, targets);
  const captureId = computeCaptureId(capture.request, targets, capture.options.policy);
  const stored = before === undefined ? undefined : await getStored(capture, before, targets, captureId);
  if (isFailure(stored)) return fail(capture, before, stored);
  const writer = new ChunkWriter(capture, captureId, stored);
  const done = await write(capture, writer, targets.slice(stored?.from ?? 0));
  if ('chunks' in done) return complete(capture, done);
  return done.kind === 'stop' ? done.outcome : fail(capture, writer.checkpoint, done);
}

/** Reads and writes in parallel. Memory holds at most one chunk, the chunks held back, and the pending reads. */
async function write(
  capture: Capture,
  writer: ChunkWriter,
  targets: readonly Target[],
): Promise<Stored | Failure | Stop> {
  const encoder = new ChunkEncoder();
  for await (const read of readManifests(capture, targets)) {
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
async function complete(capture: Capture, { checkpoint, chunks }: Stored): Promise<Outcome> {
  const name = checkpoint.metadata.name!;
  const objects = chunks.reduce((sum, { objectsCount }) => sum + objectsCount, 0);
  const ready = completed(`${objects} objects in ${chunks.length} chunks`, {});
  const problem = await patchCheckpoint(capture, checkpoint, ready, chunks);
  if (problem !== undefined) return end(capture, problem);
  capture.options.metrics.captured(
    objects,
    chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  );
  return finish(capture, completionOf(capture, name, objects));
}

/** A capture may take longer than a TTL, so the time of its end is reported and counts. */
const completionOf =
  ({ request, options }: Capture, name: string, objects: number) =>
  (at: Instant): Ending => {
    const ends = describeRetention(options.policy.retention, computeEnd(request, options.rules, at));
    return completed(`ManifestCheckpoint ${name} has ${objects} objects; ${ends}`, { checkpointName: name });
  };

/** The capture failed: writes the failure to the checkpoint, if it exists, then to the request. */
async function fail(
  capture: Capture,
  checkpoint: ManifestCheckpoint | undefined,
  why: Failure,
): Promise<Outcome> {
  if (checkpoint !== undefined) await patchCheckpoint(capture, checkpoint, endedBy(why), []);
  return end(capture, why);
}

/** The reconcile argument with the current time, because a capture takes long. */
function afterwards({ ctx, options, started }: Capture): ReconcileContext {
  const took = Math.max(0, Math.floor(options.clock.elapsed() - started));
  return { ...ctx, now: plus(ctx.now, millis(took)) };
}

const end = (capture: Capture, why: Failure): Promise<Outcome> => finish(capture, endedBy(why));

function finish(capture: Capture, ending: Ending | ((at: Instant) => Ending)): Promise<Outcome> {
  const { request, options, started } = capture;
  const { rules, guard, metrics, clock } = options;
  const onEnd = ({ reason }: Ending) => metrics.ended(reason, (clock.elapsed() - started) / 1000);
  return finishRequest(afterwards(capture), { rules, guard, onEnd }, request, ending);
}

/** The only write of the checkpoint's status. */
async function patchCheckpoint(
  capture: Capture,
  checkpoint: ManifestCheckpoint,
  ending: Ending,
  chunks: Stored['chunks'],
): Promise<Failure | undefined> {
  const { ctx, options } = capture;
  const { name, uid } = checkpoint.metadata;
  const status = buildCheckpointEnd(chunks, ending, afterwards(capture).now);
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
