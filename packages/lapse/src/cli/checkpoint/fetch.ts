// Chunks from the API server, one at a time and by name: nobody needs the right to list them.

import type { Client } from '@lapse/kube/client/client';
import { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import type { FetchChunk } from '#checkpoint/read';

export const fetchFrom =
  (client: Pick<Client, 'get'>): FetchChunk =>
  (name) =>
    client.get(ManifestCheckpointContentChunk, { name });
