// Chunks from the API server, one at a time and by name: nobody needs the right to list them.

import { ManifestCheckpointContentChunk } from '#api/kinds/manifestCheckpointContentChunk';
import type { FetchChunk } from '#checkpoint/read';
import type { Client } from '#client/client';

export const fetchFrom =
  (client: Pick<Client, 'get'>): FetchChunk =>
  (name) =>
    client.get(ManifestCheckpointContentChunk, { name });
