// The key that signs authors. It is stored in a Secret in the operator's namespace, which users cannot read. Lapse
// creates the Secret if it does not exist and reads it again every 30 seconds while it is in use. Deleting the Secret
// voids all signatures without a restart.

import { decodeBase64, encodeBase64 } from '@lapse/base/codec';
import { type Millis, millis, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { Secret } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import type { Account } from './accessReview.ts';

const KEY_FIELD = 'key';
const KEY_BYTES = 32;
/** How long a cached key is used. At most one GET per Secret, process and interval. */
export const KEY_MAX_AGE: Millis = seconds(30);

export interface AuthorKeyOptions {
  readonly client: Pick<Client, 'get' | 'create'>;
  readonly random: Random;
  readonly clock: { elapsed(): Millis };
  readonly secret: Account;
}

export class AuthorKey {
  readonly #options: AuthorKeyOptions;
  #key: Promise<Uint8Array> | undefined;
  #validUntil: Millis = millis(0);

  constructor(options: AuthorKeyOptions) {
    this.#options = options;
  }

  /** Rejects if the API server does not answer: an older key is not used instead. Failures are not cached. */
  read(): Promise<Uint8Array> {
    const now = this.#options.clock.elapsed();
    if (this.#key !== undefined && now < this.#validUntil) return this.#key;
    this.#validUntil = millis(now + KEY_MAX_AGE);
    const reading = this.#load().catch((error: unknown) => {
      if (this.#key === reading) this.#key = undefined;
      throw error;
    });
    this.#key = reading;
    return reading;
  }

  async #load(): Promise<Uint8Array> {
    const { client, random, secret } = this.#options;
    const found = await client.get(Secret, secret);
    if (found !== undefined) return keyFrom(found);
    const made: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...secret },
      type: 'Opaque',
      data: { [KEY_FIELD]: encodeBase64(random.bytes(KEY_BYTES)) },
    };
    const answer = await client.create(Secret, made);
    if (answer.kind === 'created') return keyFrom(answer.object);
    if (answer.kind === 'invalid') throw answer.error;
    // Another process created the Secret first: use its key.
    const existing = await client.get(Secret, secret);
    if (existing === undefined) throw answer.error;
    return keyFrom(existing);
  }
}

function keyFrom({ data, metadata }: Secret): Uint8Array {
  const text = data?.[KEY_FIELD];
  const key = text === undefined ? undefined : decodeBase64(text);
  if (key === undefined || key.length < KEY_BYTES)
    throw new Error(
      `secret ${metadata.namespace}/${metadata.name} has no ${KEY_FIELD} of ${KEY_BYTES} bytes`,
    );
  return key;
}
