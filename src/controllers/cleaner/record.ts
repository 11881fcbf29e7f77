// A decision to delete, as it is kept in status, and what may be believed of one that is found there.

import type { Kind } from '#api/kind';
import type { Cleaner, DeletionRecord, RecordedTarget } from '#api/kinds/cleaner';
import { formatTime, type Instant } from '#base/instant';
import type { UninstallSteps } from '#helm/uninstall';
import { isDenied } from './kinds.ts';
import type { Found } from './snapshot.ts';
import type { Target } from './spec.ts';

/** Deletions that one decision may lead to. */
export const MOST_DELETIONS = 1000;

/** The objects of targets that are to be deleted, each once. What is going already was somebody else's decision. */
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
}

export const countDeletions = ({ targets, release }: DecisionParts): number =>
  targets.length + (release === undefined ? 0 : release.steps.removals.length + release.steps.purge.length);

export function buildRecord(cleaner: Cleaner, parts: DecisionParts, now: Instant): DeletionRecord {
  const { targets, release, account } = parts;
  return {
    generation: cleaner.metadata.generation ?? 1,
    evaluatedAt: formatTime(now),
    ...(account === undefined ? {} : { serviceAccountName: account }),
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

/** Whether what conditions must see by name went with this decision, so that they can never be asked again. */
export const isLastDecision = ({ targets }: DeletionRecord, declared: readonly Target[]): boolean =>
  declared.some(
    ({ included, delete: deleted, reference: { name } }) =>
      included && deleted && name && targets.some((one) => one.name === name),
  );

/**
 * Only holders of `cleaners/status` can write a record; even so, one that speaks of kinds which no Cleaner may touch, or
 * of an account that this Cleaner does not use, is nobody's decision.
 */
export function isBelievable(record: DeletionRecord, cleaner: Cleaner, account: string | undefined): boolean {
  const { targets, generation, serviceAccountName } = record;
  const { generation: current = 1 } = cleaner.metadata;
  if (generation > current || !targets.every(isTouchable)) return false;
  // An older spec may have named another one.
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

/** The kind of a recorded object, as far as deleting it needs one. */
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
