// The record of a decision to delete in status: its content, its signature, and the plausibility checks of a record that
// is found there.

import { hmac, isHmacOf } from '@lapse/base/hmac';
import { formatTime, hours, type Instant, isDue, type Millis, parseTime, plus } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { Random } from '@lapse/base/random';
import type { Json } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { ApiError } from '@lapse/kube/api/status';
import type { Cleaner, DeletionRecord, RecordedTarget } from '#api/cleaner';
import { type AuthorSeal, canonical } from '#authors/authorSeal';
import { isDenied } from '#authors/deniedGroups';
import type { UninstallSteps } from '#helm/uninstallPlan';
import { findDelay } from './delay.ts';
import type { Target } from './spec.ts';
import type { Found } from './targets.ts';

/** Limit of deletions per decision. */
export const MOST_DELETIONS = 1000;

/**
 * The objects of targets that are to be deleted, each once. Terminating objects are skipped: another client deleted
 * them.
 */
export function recordTargets(found: readonly Found[]): RecordedTarget[] {
  const byUid = new Map<string, RecordedTarget>();
  for (const { target, kind, objects } of found) {
    if (!target.delete) continue;
    const { group, version, resource } = kind;
    for (const { metadata } of objects) {
      const { uid = '', name = '', deletionTimestamp } = metadata;
      if (uid === '' || deletionTimestamp !== undefined) continue;
      if (!byUid.has(uid)) byUid.set(uid, { group, version, resource, name, uid });
    }
  }
  return [...byUid.values()];
}

export interface DecisionParts {
  readonly targets: readonly RecordedTarget[];
  readonly release?: { readonly name: string; readonly steps: UninstallSteps };
  readonly account?: string | undefined;
  /** User name of the author. */
  readonly author?: string | undefined;
}

export const countDeletions = ({ targets, release }: DecisionParts): number =>
  targets.length + (release === undefined ? 0 : release.steps.removals.length + release.steps.purge.length);

export function buildRecord(cleaner: Cleaner, parts: DecisionParts, now: Instant): DeletionRecord {
  const { targets, release, account, author } = parts;
  return {
    generation: cleaner.metadata.generation ?? 1,
    evaluatedAt: formatTime(now),
    ...(account === undefined ? {} : { serviceAccountName: account }),
    ...(author === undefined ? {} : { author }),
    targets: [...targets],
    ...(release === undefined
      ? {}
      : {
          helm: {
            release: release.name,
            revision: release.steps.revision,
            storage: release.steps.purge.map((ref) => ({ ...ref })),
          },
        }),
  };
}

/**
 * Whether this decision deleted an object that conditions require by name. The conditions can then never be
 * evaluated again.
 */
export const isLastDecision = ({ targets }: DeletionRecord, declared: readonly Target[]): boolean =>
  declared.some(
    ({ included, delete: deleted, reference: { name } }) =>
      included && deleted && name && targets.some((one) => one.name === name),
  );

/**
 * How long a decision without a deletion is carried out. After a longer interruption the Cleaner is evaluated
 * again.
 */
const LONGEST_UNSTARTED: Millis = hours(1);

/**
 * Returns why a record without a deletion is evaluated again instead of carried out, or undefined. An annotation that was
 * set after the decision counts.
 */
export function computeOutdated(
  { generation, evaluatedAt }: DeletionRecord,
  { metadata }: Cleaner,
  now: Instant,
): string | undefined {
  if (generation !== metadata.generation) return 'the spec was changed before anything was deleted';
  const delay = findDelay(metadata, now);
  if (delay !== undefined) return delay;
  return isDue(plus(parseTime(evaluatedAt), LONGEST_UNSTARTED), now)
    ? 'it is more than an hour old and nothing was deleted'
    : undefined;
}

/**
 * Whether this Cleaner can have led to the record: no denied kind, and the account of the spec. Second line of
 * defence; records are authenticated first (`RecordSeal`).
 */
export function isBelievable(record: DeletionRecord, cleaner: Cleaner, account: string | undefined): boolean {
  const { targets, generation, serviceAccountName } = record;
  const { generation: current = 1 } = cleaner.metadata;
  if (generation > current || !targets.every(isTouchable)) return false;
  // An older spec may have set another account.
  return generation < current || serviceAccountName === account;
}

const WORD = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

const isTouchable = ({ group, version, resource, name, uid }: RecordedTarget): boolean =>
  !isDenied(group) &&
  (group === '' || WORD.test(group)) &&
  WORD.test(version) &&
  WORD.test(resource) &&
  name !== '' &&
  uid !== '';

/** The kind of a recorded object, with the fields that a DELETE needs. */
export const kindOf = ({ group, version, resource }: RecordedTarget): Kind => ({
  group,
  version,
  resource,
  kind: resource,
  namespaced: true,
});

export function describeDecision({ targets, helm }: DeletionRecord): string {
  const objects = `${targets.length} ${targets.length === 1 ? 'object' : 'objects'}`;
  return helm === undefined
    ? objects
    : `${objects} and the release ${helm.release} (revision ${helm.revision})`;
}

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

/**
 * Authenticates decision records. Every holder of `patch cleaners/status` can write `status.deletion`; only a record
 * with an HMAC made with the author key is carried out. The HMAC covers the Cleaner's uid and every field of the record.
 */
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
