// Chunks in Secrets of Lapse's own namespace, so that RBAC on Secrets and encryption at rest apply to them.

import { Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { TransportError } from '@lapse/kube/client/transport';
import { readSavedAt, savedAtText, type TrashChunk } from './chunk.ts';
import type { ChunkInfo, TrashReader, TrashStore } from './store.ts';

export const TRASH_TYPE = 'lapse.dev/trash';
const TRASH_LABEL = 'lapse.dev/trash';
export const TRASH_SELECTOR = `${TRASH_LABEL}=chunk`;

const SAVED_AT = 'lapse.dev/saved-at';
const OBJECTS = 'lapse.dev/objects';
const BYTES = 'lapse.dev/bytes';
const CHECKSUM = 'lapse.dev/checksum';
const DATA_KEY = 'records.json.gz';

/** Attempts to store a chunk if the API server does not answer. The name makes a repeated create safe. */
const ATTEMPTS = 2;
const PAGE = 20;

export function buildSecret(chunk: TrashChunk, namespace: string): Secret {
  const { name, objects, bytes, checksum, data } = chunk;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { [TRASH_LABEL]: 'chunk' },
      annotations: {
        [SAVED_AT]: savedAtText(chunk),
        [OBJECTS]: String(objects),
        [BYTES]: String(bytes),
        [CHECKSUM]: checksum,
      },
    },
    type: TRASH_TYPE,
    immutable: true,
    data: { [DATA_KEY]: data },
  };
}

/** The fields are those that `buildSecret` writes; unreadable ones are NaN or empty. */
export function chunkInfoOf({ metadata }: KubeObject): ChunkInfo {
  const { name = '', annotations = {} } = metadata;
  return {
    name,
    savedAt: readSavedAt(annotations[SAVED_AT]),
    objects: Number(annotations[OBJECTS] ?? Number.NaN),
    bytes: Number(annotations[BYTES] ?? Number.NaN),
    checksum: annotations[CHECKSUM] ?? '',
  };
}

export class SecretStore implements TrashStore {
  readonly #client: Pick<Client, 'create'>;
  readonly #namespace: string;

  constructor(client: Pick<Client, 'create'>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  async put(chunk: TrashChunk): Promise<void> {
    const secret = buildSecret(chunk, this.#namespace);
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#client.create(Secret, secret);
        if (answer.kind === 'created' || answer.kind === 'exists') return;
        throw answer.error;
      } catch (error) {
        const isUnanswered = error instanceof TransportError && error.failure !== 'aborted';
        if (!isUnanswered || attempt === ATTEMPTS) throw error;
      }
    }
  }
}

export class SecretReader implements TrashReader {
  readonly #client: Pick<Client, 'pages'>;
  readonly #namespace: string;

  constructor(client: Pick<Client, 'pages'>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** The API server returns Secrets by name, which starts with the time. */
  async *chunks(): AsyncGenerator<TrashChunk, void> {
    const options = { namespace: this.#namespace, labelSelector: TRASH_SELECTOR, limit: PAGE };
    for await (const page of this.#client.pages(Secret, options)) {
      if (page.kind === 'expired') throw page.error;
      for (const secret of page.items)
        if (secret.type === TRASH_TYPE) yield { ...chunkInfoOf(secret), data: secret.data?.[DATA_KEY] ?? '' };
    }
  }
}

/** The API server refused to store a chunk, for a reason that a user has to fix. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;
