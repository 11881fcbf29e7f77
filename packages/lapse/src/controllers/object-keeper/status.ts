// Builds the status of a keeper and compares it with the stored one. Transition times change only with the status of the
// condition, so that a second reconcile writes nothing.

import type { Instant } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import { equal, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import type { KeeperPhase, ObjectKeeper, ObjectKeeperStatus } from '#api/objectKeeper';
import { KeeperCondition, type KeeperReason } from '#api/storage/conditions';

export interface StatusContent {
  readonly phase: KeeperPhase;
  /** The condition Active. */
  readonly active: 'True' | 'False' | 'Unknown';
  readonly reason: KeeperReason;
  readonly message: string;
  readonly lostAt?: string;
  /** The TTL after a loss has started: the condition TTLActive. */
  readonly counting?: boolean;
}

export function statusOf({ status }: ObjectKeeper, content: StatusContent, now: Instant): ObjectKeeperStatus {
  const { phase, active, reason, message, lostAt, counting = false } = content;
  const wanted: Condition[] = [{ type: KeeperCondition.Active, status: active, reason, message }];
  if (counting) wanted.push({ type: KeeperCondition.TTLActive, status: 'True', reason, message });
  const kept = status?.conditions?.filter(({ type }) => wanted.some((one) => one.type === type));
  const conditions = wanted.reduce((all, one) => setCondition(all, one, now), kept ?? []);
  return { phase, message, conditions, ...(lostAt === undefined ? {} : { lostAt }) };
}

/** The merge patch to the wanted status; undefined if the status is already the same. */
export function computeStatusPatch(keeper: ObjectKeeper, wanted: ObjectKeeperStatus): JsonObject | undefined {
  if (equal(keeper.status as Json | undefined, wanted as unknown as Json)) return undefined;
  return { status: { ...(wanted as unknown as JsonObject), lostAt: wanted.lostAt ?? null } };
}
