// Cleaners of preview environments as applied by kubectl: about 3 kB each, half of it managedFields and the
// last-applied annotation.

import { formatTime, type Instant, instant } from '@lapse/base/instant';
import { seededRandom, uuid } from '@lapse/base/random';
import type { Cleaner, CleanerStatus } from 'lapse/api/cleaner';
import { cleaner, SEED_CONDITION } from 'lapse/controllers/cleaner/cleaner.testkit';
import { buildStatus } from 'lapse/controllers/cleaner/status';

export const NAMESPACES: readonly string[] = Array.from({ length: 100 }, (_, i) => `previews-${i}`);
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The `i`th of many. Its TTL is unique, and at least 30 days. */
export function waitingCleaner(i: number): Cleaner {
  const name = `preview-${String(i).padStart(6, '0')}`;
  const applied = cleaner(
    {
      ttl: `${720 + (i % 1000)}h${i % 60}m`,
      retry: { period: '5h', monotonic: true },
      helm: { release: name, delete: true },
      targets: [
        {
          name: 'revisions',
          reference: {
            apiGroup: 'serving.knative.dev',
            kind: 'revision',
            matchLabels: { 'vtex.io/proxy': name },
          },
          includeWhenEvaluating: true,
        },
        { name: 'settings', reference: { version: 'v1', kind: 'configmap', name }, delete: true },
      ],
      conditions: [SEED_CONDITION, `size(revisions.items) < 10 && "${name}" != ""`],
    },
    {
      name,
      namespace: NAMESPACES[i % NAMESPACES.length]!,
      labels: { app: name, 'app.kubernetes.io/managed-by': 'kubectl', team: `team-${i % 20}` },
    },
  );
  const annotations = { 'example.com/pull-request': String(i), [LAST_APPLIED]: JSON.stringify(applied) };
  return { ...applied, metadata: { ...applied.metadata, annotations } };
}

const CREATED = instant(Date.parse('2026-01-01T00:00:00Z'));
const managed = (manager: string) => ({
  manager,
  operation: 'Update',
  apiVersion: 'cleaner.vtex.dev/v1alpha',
  time: formatTime(CREATED),
  fieldsType: 'FieldsV1',
  fieldsV1: {
    'f:metadata': { 'f:annotations': { '.': {}, [`f:${LAST_APPLIED}`]: {} }, 'f:labels': { 'f:app': {} } },
    'f:spec': { 'f:ttl': {}, 'f:targets': {}, 'f:conditions': {}, 'f:helm': { 'f:release': {} } },
  },
});
const random = seededRandom(3);

/** The same as stored by the API server, with the status that Lapse writes. */
export function storedCleaner(i: number): Cleaner {
  const applied = waitingCleaner(i);
  const stored: Cleaner = {
    ...applied,
    metadata: {
      ...applied.metadata,
      uid: uuid(random),
      resourceVersion: String(10_000_000 + i),
      generation: 1,
      creationTimestamp: formatTime(CREATED),
      managedFields: [managed('kubectl-client-side-apply'), managed('lapse')],
    },
  };
  return { ...stored, status: waitingStatus(stored, CREATED) };
}

export function waitingStatus(cleaner: Cleaner, now: Instant): CleanerStatus {
  const message = 'nothing is evaluated or deleted before the TTL has passed';
  return buildStatus(cleaner, { reason: 'NotExpired', message, next: now }, now);
}

export const dueCleaner: Cleaner = cleaner({ ttl: '0s' }, { name: 'due', namespace: NAMESPACES[0]! });
