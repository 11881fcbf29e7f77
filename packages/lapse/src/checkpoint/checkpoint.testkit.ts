// Objects and chunks for tests of checkpoints.

import { encodeBase64 } from '@lapse/base/codec';
import { seededRandom } from '@lapse/base/random';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { ManifestCheckpointContentChunk as ChunkKind } from '#api/manifestCheckpointContentChunk';
import { ChunkEncoder, type EncodedChunk } from './encode.ts';
import { chunkName } from './names.ts';

export const configMap = (name: string, data: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

/** Deterministic text that hardly compresses: to three quarters of its size. */
export const noise = (bytes: number, seed = 1): string =>
  encodeBase64(seededRandom(seed).bytes(Math.ceil((bytes * 3) / 4))).slice(0, bytes);

/** All chunks of the objects; throws if an object is too large. */
export function encodeAll(objects: readonly KubeObject[], most?: number): EncodedChunk[] {
  const encoder = new ChunkEncoder(most);
  const steps = [...objects.map((object) => encoder.add(object)), encoder.end()];
  return steps.flatMap((step) => {
    if (step.kind === 'tooLarge') throw new Error(`${step.object}: ${step.why}`);
    return step.chunks;
  });
}

export const chunkObject = (
  checkpoint: string,
  index: number,
  { data, objectsCount, checksum }: EncodedChunk,
): ManifestCheckpointContentChunk => ({
  apiVersion: apiVersionOf(ChunkKind),
  kind: ChunkKind.kind,
  metadata: { name: chunkName(checkpoint, index) },
  spec: { checkpointName: checkpoint, index, data, objectsCount, checksum },
});
