// Conditions in the status of a CRD.

import type { Instant } from '@lapse/base/instant';
import { findCondition as findIn, setCondition as setIn } from '@lapse/kube/api/conditions';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectAt, objectsAt } from './crd.ts';

export type ConditionType =
  | 'NamesAccepted'
  | 'Established'
  | 'Terminating'
  | 'NonStructuralSchema'
  | 'KubernetesAPIApprovalPolicyConformant';

export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

const conditionsOf = (object: KubeObject): JsonObject[] =>
  objectsAt(objectAt(object as unknown as JsonObject, 'status'), 'conditions');

export const findCondition = (object: KubeObject, type: ConditionType): Condition | undefined =>
  findIn(conditionsOf(object), type) as Condition | undefined;

export const isConditionTrue = (object: KubeObject, type: ConditionType): boolean =>
  findCondition(object, type)?.status === 'True';

/** Equal except for the time. */
export const sameCondition = (a: Condition, b: Condition | undefined): boolean =>
  b !== undefined && a.status === b.status && a.reason === b.reason && a.message === b.message;

/** Adds or replaces a condition; lastTransitionTime changes only with the status. Modifies `object`. */
export function setCondition(object: KubeObject, next: Condition, now: Instant): void {
  writeConditions(object, setIn(conditionsOf(object), { ...next }, now));
}

export function removeCondition(object: KubeObject, type: ConditionType): void {
  writeConditions(
    object,
    conditionsOf(object).filter((c) => c['type'] !== type),
  );
}

function writeConditions(object: KubeObject, conditions: JsonObject[]): void {
  const status = objectAt(object as unknown as JsonObject, 'status');
  const { conditions: _old, ...rest } = status;
  (object as unknown as JsonObject)['status'] = { conditions: conditions as Json, ...rest };
}
