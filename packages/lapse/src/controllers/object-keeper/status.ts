// Builds the status of a keeper.

import type { Instant } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
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
