// Conditions that the server itself sets on Pods.

import { formatTime, type Instant } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import { copyField, objects, text } from '../values.ts';

/** Adds the condition or replaces the one of its type; the transition time moves only with the status. */
export function setCondition(status: JsonObject, condition: JsonObject, now: Instant): void {
  const present = objects(status, 'conditions');
  const index = present.findIndex((c) => text(c, 'type') === text(condition, 'type'));
  const made: JsonObject = { lastProbeTime: null, lastTransitionTime: formatTime(now), ...condition };
  const old = present[index];
  if (old && text(old, 'status') === text(condition, 'status')) copyField(made, old, 'lastTransitionTime');
  status['conditions'] = old ? present.with(index, made) : [...present, made];
}
