// Saved objects for tests.

import { type Instant, instant } from '@lapse/base/instant';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import { buildRecord, type TrashRecord } from './record.ts';

export const NOW = instant(Date.UTC(2026, 0, 1));

export const configMap = (name: string, metadata: ObjectMeta = {}, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7', ...metadata },
  ...more,
});

export function recordOf(
  object: KubeObject,
  {
    rule = 'TTLPolicy shop/previews',
    at = NOW,
    ...origin
  }: { rule?: string; at?: Instant; isFinished?: boolean } = {},
): TrashRecord {
  return buildRecord(object, { origin: { rule, reason: 'old', ...origin }, deadline: NOW }, at);
}
