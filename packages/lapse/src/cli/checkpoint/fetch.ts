// Reads chunks from the API server one by one and by name, so that the right to list them is not needed.

import type { Client } from '@lapse/kube/client/client';
import { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import type { FetchChunk } from '#checkpoint/read';

export const fetchFrom =
  (client: Pick<Client, 'get'>): FetchChunk =>
  (name) =>
    client.get(ManifestCheckpointContentChunk, { name });
