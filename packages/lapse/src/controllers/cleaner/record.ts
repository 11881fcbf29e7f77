// The record of a decision to delete in status, and the plausibility checks of a record that is found there.

import { formatTime, hours, type Instant, isDue, type Millis, parseTime, plus } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { Cleaner, DeletionRecord, RecordedTarget } from '#api/cleaner';
import { isDenied } from '#authors/deniedGroups';
import type { UninstallSteps } from '#helm/uninstallPlan';
import type { Found } from './snapshot.ts';
import type { Target } from './spec.ts';

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
  readonly account?: string;
  /** User name of the author. */
  readonly author?: string;
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

/** Returns why a record without a deletion is evaluated again instead of carried out, or undefined. */
export function computeOutdated(
  { generation, evaluatedAt }: DeletionRecord,
  { metadata }: Cleaner,
  now: Instant,
): string | undefined {
  if (generation !== metadata.generation) return 'the spec was changed before anything was deleted';
  return isDue(plus(parseTime(evaluatedAt), LONGEST_UNSTARTED), now)
    ? 'it is more than an hour old and nothing was deleted'
    : undefined;
}

/**
 * Whether this Cleaner can have led to the record: no denied kind, and the account of the spec. Second line of
 * defence; records are authenticated first (recordSeal.ts).
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
