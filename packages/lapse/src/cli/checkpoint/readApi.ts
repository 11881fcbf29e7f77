// The read API behind the cluster's API server:
//   GET /apis/subresources.state-snapshotter.deckhouse.io/v1alpha1/manifestcheckpoints/<name>/manifests
// Streams a JSON array of the captured objects in chunk order. A chunk is verified before its first byte is sent.
// Errors that are known before (checkpoint not found, not Ready, first chunk damaged) are a Status. Later errors
// abort the connection, so that a partial array is not taken for a complete one.

import { notFound } from '@lapse/kube/api/errors';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { AggregatedApi, AggregatedCall, AggregatedResponse } from '@lapse/runtime/aggregated/api';
import { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { CheckpointError, type ReadOptions, readCheckpoint, type VerifiedChunk } from '#checkpoint/read';
import { fetchFrom } from './fetch.ts';

export const READ_GROUP = 'subresources.state-snapshotter.deckhouse.io';
export const READ_VERSION = 'v1alpha1';

export const manifestsPath = (name: string): string =>
  `/apis/${READ_GROUP}/${READ_VERSION}/manifestcheckpoints/${encodeURIComponent(name)}/manifests`;

export interface ReadApiOptions extends ReadOptions {
  /** Reads checkpoints and chunks. The caller needs no right to either. */
  readonly client: Pick<Client, 'get'>;
}

/** The API is served where checkpoints are created. */
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
): Promise<AggregatedResponse> {
  const checkpoint = await client.get(ManifestCheckpoint, { name });
  if (checkpoint === undefined) throw notFound({ group: READ_GROUP, plural: 'manifestcheckpoints' }, name);
  const chunks = readCheckpoint(checkpoint, fetchFrom(client), options);
  const first = await chunks.next().catch((error: unknown) => {
    throw error instanceof CheckpointError ? refusalOf(error, name) : error;
  });
  const body = jsonArray(first.done === true ? undefined : first.value, chunks, signal);
  return { contentType: 'application/json', body, compressible: true };
}

/** Not Ready is a temporary state. All other problems of a checkpoint are internal errors. */
function refusalOf({ problem, message }: CheckpointError, name: string): ApiError {
  const details = { name, group: READ_GROUP, kind: 'manifestcheckpoints' };
  return problem === 'notReady'
    ? new ApiError(409, 'Conflict', message, details)
    : new ApiError(500, 'InternalError', message, details);
}

/** The arrays of the chunks joined into one, byte for byte as they were stored. */
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
