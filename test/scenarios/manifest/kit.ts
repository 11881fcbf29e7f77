// Objects of the scenarios about manifest checkpoints, and a reader for captured contents.

import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Simulation } from '@lapse/simulation/simulate';
import { ManifestCaptureRequest, type ManifestTarget } from 'lapse/api/manifestCaptureRequest';
import type { ManifestCheckpoint } from 'lapse/api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from 'lapse/api/manifestCheckpointContentChunk';
import { decodeChunk } from 'lapse/checkpoint/decode';
import type { Given, Then } from '../scene.ts';

export const configMap = (
  name: string,
  data: Record<string, string> = { of: name },
  metadata: object = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
  data,
});

export const secret = (name = 'db', more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default' },
  type: 'Opaque',
  data: { password: 'aHVudGVyMg==' },
  ...more,
});

export const target = (kind: string, name: string, apiVersion = 'v1'): ManifestTarget => ({
  apiVersion,
  kind,
  name,
});

/** `manifests()`: of the ConfigMaps a and b. */
export const manifests = (
  name = 'before',
  targets: readonly ManifestTarget[] = [target('ConfigMap', 'b'), target('ConfigMap', 'a')],
  metadata: object = {},
): ManifestCaptureRequest => ({
  apiVersion: apiVersionOf(ManifestCaptureRequest),
  kind: 'ManifestCaptureRequest',
  metadata: { name, namespace: 'default', ...metadata },
  spec: { targets: [...targets] },
});

export const FAMILIES = ['manifest-capture', 'object-keeper', 'request-ttl'] as const;
export const REF = 'mcr/before';

export interface WorldOptions {
  readonly configuration?: Parameters<Given['configuration']>[0];
  readonly families?: readonly string[];
  readonly objects?: readonly KubeObject[];
}

/** A namespace with two ConfigMaps and a Secret. By default the controller reads with its own rights. */
export async function manifestWorld(given: Given, options: WorldOptions = {}): Promise<void> {
  given.controllers(...(options.families ?? ['manifest-capture']));
  given.configuration({ actAs: 'controller', ...options.configuration });
  given.simulatedControllers('owner-gc');
  await given.object(options.objects ?? [configMap('a'), configMap('b'), secret()]);
}

export async function checkpointOf(then: Then, ref = REF): Promise<ManifestCheckpoint> {
  const { status } = await then.object<ManifestCaptureRequest>(ref);
  return then.object<ManifestCheckpoint>(`mcp/${status?.checkpointName}`);
}

/** All objects of a checkpoint, in order. Throws if a chunk is missing or damaged. */
export async function capturedObjects(
  simulation: Simulation,
  { metadata, status }: ManifestCheckpoint,
): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const { name, index, checksum, objectsCount, sizeBytes } of status?.chunks ?? []) {
    const chunk = await simulation.user.get(ManifestCheckpointContentChunk, { name });
    if (chunk === undefined) throw new Error(`chunk ${name} does not exist`);
    const decoded = decodeChunk(chunk, { checkpointName: metadata.name!, index, checksum, objectsCount });
    if (decoded.kind === 'damaged') throw new Error(`chunk ${name}: ${decoded.why}`);
    if (decoded.payload.sizeBytes !== sizeBytes) throw new Error(`chunk ${name} has another size`);
    objects.push(...decoded.objects);
  }
  return objects;
}

export const names = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
