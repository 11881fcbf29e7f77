// Authenticates decision records. Every holder of `patch cleaners/status` can write `status.deletion`; only a record with an
// HMAC made with the author key is carried out. The HMAC covers the Cleaner's uid and every field of the record.

import { hmac, isHmacOf } from '@lapse/base/hmac';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { Json } from '@lapse/kube/api/json';
import { ApiError } from '@lapse/kube/api/status';
import type { Cleaner, DeletionRecord } from '#api/cleaner';
import { type AuthorSeal, canonical } from '#authors/authorSeal';

const KEY_BYTES = 32;

export interface RecordSealOptions {
  readonly seal: Pick<AuthorSeal, 'key'>;
  readonly random: Random;
  readonly log: Log;
  /**
   * `actAs: controller` runs without the right to the key's Secret. A key in memory replaces it: records of an
   * earlier process are then discarded, and their Cleaners are evaluated again.
   */
  readonly mayUseOwnKey: boolean;
}

export class RecordSeal {
  readonly #options: RecordSealOptions;
  #ownKey: Uint8Array | undefined;

  constructor(options: RecordSealOptions) {
    this.#options = options;
  }

  /** The record with its HMAC in `seal`. */
  async sign(cleaner: Cleaner, record: DeletionRecord): Promise<DeletionRecord> {
    return { ...record, seal: hmac(await this.#key(), signedText(cleaner, record)) };
  }

  /** Whether Lapse wrote this record for this Cleaner. */
  async isAuthentic(cleaner: Cleaner, record: DeletionRecord): Promise<boolean> {
    const { seal } = record;
    if (seal === undefined || !cleaner.metadata.uid) return false;
    return isHmacOf(await this.#key(), signedText(cleaner, record), seal);
  }

  async #key(): Promise<Uint8Array> {
    const { seal, random, log, mayUseOwnKey } = this.#options;
    if (this.#ownKey !== undefined) return this.#ownKey;
    try {
      return await seal.key();
    } catch (error) {
      if (!mayUseOwnKey || !(error instanceof ApiError) || (error.code !== 403 && error.code !== 404))
        throw error;
      log.warn(
        { error: error.message },
        'the Secret with the author key cannot be read or created: decisions that are not finished when this process ends are evaluated again',
      );
      this.#ownKey = random.bytes(KEY_BYTES);
      return this.#ownKey;
    }
  }
}

function signedText({ metadata }: Cleaner, { seal: _, ...record }: DeletionRecord): string {
  return canonical(['lapse.dev/cleaner-record/1', metadata.uid ?? '', record as unknown as Json]);
}
