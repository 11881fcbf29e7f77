// Metadata that writes through some subresources cannot change.

import type { KubeObject } from '@lapse/kube/api/object';
import { copyField } from './values.ts';

const KEPT = ['deletionTimestamp', 'generation', 'labels', 'annotations', 'finalizers', 'ownerReferences'];

export function keepMeta(next: KubeObject, old: KubeObject): void {
  const [to, from] = [next.metadata as Record<string, unknown>, old.metadata as Record<string, unknown>];
  for (const field of KEPT) copyField(to, from, field);
}
