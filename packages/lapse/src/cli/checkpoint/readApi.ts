// The read API behind the cluster's API server:
//   GET /apis/subresources.state-snapshotter.deckhouse.io/v1alpha1/manifestcheckpoints/<name>/manifests
// A JSON array of the captured objects in chunk order, as a stream. A chunk is checked before its first byte goes out; what
// can be known beforehand (no such checkpoint, not Ready, first chunk damaged) is a Status, what turns up later ends the
// connection in the middle, so that nobody takes half an array for a whole one.

import { notFound } from '@lapse/kube/api/errors';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { AggregatedAnswer, AggregatedApi, AggregatedCall } from '@lapse/runtime/aggregated/aggregated';
import { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { CheckpointError, type ReadOptions, readCheckpoint, type VerifiedChunk } from '#checkpoint/read';
import { fetchFrom } from './fetch.ts';

export const READ_GROUP = 'subresources.state-snapshotter.deckhouse.io';
export const READ_VERSION = 'v1alpha1';

export const manifestsPath = (name: string): string =>
  `/apis/${READ_GROUP}/${READ_VERSION}/manifestcheckpoints/${encodeURIComponent(name)}/manifests`;

export interface ReadApiOptions extends ReadOptions {
  /** Reads checkpoints and chunks; who asks needs no right to either. */
  readonly client: Pick<Client, 'get'>;
}

/** Where checkpoints are made they are read. */
export const readApiFor = (
  families: readonly string[],
  options: ReadApiOptions,
): { readonly api: AggregatedApi } | undefined =>
  families.includes('manifest-capture') ? { api: manifestsApi(options) } : undefined;

export function manifestsApi(options: ReadApiOptions): AggregatedApi {
  return {
    group: READ_GROUP,
    version: READ_VERSION,
    resources: [
      {
        resource: 'manifestcheckpoints',
        subresource: 'manifests',
        kind: 'ManifestCheckpoint',
        namespaced: false,
        verbs: ['get'],
        answer: (call) => answerManifests(options, call),
      },
    ],
  };
}

async function answerManifests(
  { client, ...options }: ReadApiOptions,
  { name = '', signal }: AggregatedCall,
): Promise<AggregatedAnswer> {
  const checkpoint = await client.get(ManifestCheckpoint, { name });
  if (checkpoint === undefined) throw notFound({ group: READ_GROUP, plural: 'manifestcheckpoints' }, name);
  const chunks = readCheckpoint(checkpoint, fetchFrom(client), options);
  const first = await chunks.next().catch((error: unknown) => {
    throw error instanceof CheckpointError ? refusalOf(error, name) : error;
  });
  const body = jsonArray(first.done === true ? undefined : first.value, chunks, signal);
  return { contentType: 'application/json', body, compressible: true };
}

/** Not ready is a state that passes; anything else wrong with a checkpoint is ours to look into. */
function refusalOf({ problem, message }: CheckpointError, name: string): ApiError {
  const details = { name, group: READ_GROUP, kind: 'manifestcheckpoints' };
  return problem === 'notReady'
    ? new ApiError(409, 'Conflict', message, details)
    : new ApiError(500, 'InternalError', message, details);
}

/** The arrays of the chunks as one, byte for byte as they were stored. */
async function* jsonArray(
  first: VerifiedChunk | undefined,
  rest: AsyncGenerator<VerifiedChunk, void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let between = '[';
  const inner = function* ({ json, objects }: VerifiedChunk) {
    if (objects.length === 0) return;
    yield Buffer.from(between);
    between = ',';
    yield json.subarray(json.indexOf(0x5b) + 1, json.lastIndexOf(0x5d));
  };
  if (first !== undefined) yield* inner(first);
  for await (const chunk of rest) {
    signal?.throwIfAborted();
    yield* inner(chunk);
  }
  yield Buffer.from(between === '[' ? '[]' : ']');
}
