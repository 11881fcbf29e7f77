// Conditions that the server itself sets on Pods.

import type { Instant } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import type { JsonObject } from '@lapse/kube/api/json';
import { objects } from '../values.ts';

/** Modifies `status`. */
export function setPodCondition(status: JsonObject, condition: JsonObject, now: Instant): void {
  status['conditions'] = setCondition(
    objects(status, 'conditions'),
    { lastProbeTime: null, ...condition },
    now,
  );
}
