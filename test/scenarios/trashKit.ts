// Reads what the process saved before it deleted, from the Secrets of the simulated cluster.

import { Secret } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { decodeRecords } from 'lapse/trash/chunk';
import type { TrashRecord } from 'lapse/trash/record';
import { SecretReader } from 'lapse/trash/secretStore';

/** The saved objects, oldest first. */
export async function savedRecords(client: Client, namespace = 'default'): Promise<TrashRecord[]> {
  const records: TrashRecord[] = [];
  for await (const chunk of new SecretReader(client, namespace).chunks()) {
    const decoded = decodeRecords(chunk);
    if (decoded.kind === 'damaged') throw new Error(`${chunk.name}: ${decoded.why}`);
    records.push(...decoded.records);
  }
  return records;
}

/** `pipelineruns a`, for comparisons. */
export const savedNames = async (client: Client): Promise<string[]> =>
  (await savedRecords(client)).map(({ object }) => `${object.kind}/${object.metadata.name}`);

/** Every Secret with saved objects, by name. */
export const chunkNames = async (client: Client): Promise<string[]> =>
  (await client.list(Secret, { labelSelector: 'lapse.dev/trash=chunk' })).items.map(
    ({ metadata }) => metadata.name ?? '',
  );
