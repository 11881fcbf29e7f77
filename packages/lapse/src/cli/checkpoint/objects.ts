// Reads the objects of a checkpoint for a command: from its chunks or, for users who may not read those, from the
// read API, which requires only the right to this checkpoint.

import { isObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { parseBytes } from '@lapse/kube/client/codec';
import { apiErrorFrom } from '@lapse/kube/client/errors';
import type { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { listChunks, type ReadOptions, readCheckpoint } from '#checkpoint/read';
import { UsageError } from '#manager/usage';
import { fetchFrom } from './fetch.ts';
import { manifestsPath } from './readApi.ts';

export interface ObjectsOptions extends ReadOptions {
  readonly only?: readonly string[];
}

/** One after the other, in chunk order. */
export async function* objectsOf(
  client: Client,
  checkpoint: ManifestCheckpoint,
  options: ObjectsOptions = {},
): AsyncGenerator<KubeObject, void> {
  const isWanted = selection(options.only ?? []);
  for await (const objects of batches(client, checkpoint, options))
    for (const object of objects) if (isWanted(object)) yield object;
}

async function* batches(
  client: Client,
  checkpoint: ManifestCheckpoint,
  options: ReadOptions,
): AsyncGenerator<readonly KubeObject[], void> {
  let begun = false;
  try {
    for await (const { objects } of readCheckpoint(checkpoint, fetchFrom(client), options)) {
      begun = true;
      yield objects;
    }
  } catch (error) {
    if (begun || !(error instanceof ApiError) || error.code !== 403) throw error;
    yield await readThroughApi(client, checkpoint, { options, forbidden: error });
  }
}

async function readThroughApi(
  client: Client,
  checkpoint: ManifestCheckpoint,
  { options, forbidden }: { readonly options: ReadOptions; readonly forbidden: ApiError },
): Promise<readonly KubeObject[]> {
  const counted = listChunks(checkpoint, options).reduce((sum, { objectsCount }) => sum + objectsCount, 0);
  const path = manifestsPath(checkpoint.metadata.name!);
  const response = await client.raw({ method: 'GET', path, headers: { accept: 'application/json' } });
  if (response.status !== 200) {
    const refusal = apiErrorFrom(response);
    // The read API is not served: the right to the chunks is missing.
    throw refusal.code === 404 || refusal.code === 503 ? forbidden : refusal;
  }
  const value = parseBytes(response.body);
  if (!Array.isArray(value) || value.length !== counted || !value.every(isObject))
    throw new Error(`${path} did not answer with the ${counted} objects of the checkpoint`);
  return value as unknown as KubeObject[];
}

/** For example `deployment`, `Deployment/web`. The kind is case-insensitive. */
export function selection(words: readonly string[]): (object: KubeObject) => boolean {
  if (words.length === 0) return () => true;
  const wanted = words.map((word) => {
    const [kind = '', name, ...more] = word.split('/');
    if (kind === '' || name === '' || more.length > 0)
      throw new UsageError(`--only ${word}: write Kind or Kind/name`);
    return { kind: kind.toLowerCase(), name };
  });
  return ({ kind, metadata }) =>
    wanted.some((one) => one.kind === kind.toLowerCase() && (one.name ?? metadata.name) === metadata.name);
}
