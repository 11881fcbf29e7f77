// Metrics under the names that all TTL controllers share, with the kinds of the targets as labels.

import type { Instant } from '@lapse/base/instant';
import type { Registry } from '@lapse/runtime/metrics/registry';
import { type TtlCounts, type TtlMetrics, ttlMetrics } from '../ttlMetrics.ts';
import { metricKind, type Policies, standingOf } from './policies.ts';

export function policyMetrics(
  registry: Registry,
  controller: string,
  policies: Policies,
  now: () => Instant,
): TtlMetrics {
  registry
    .gauge('lapse_ttl_policies', 'Policies by whether they are at work.', ['state'])
    .collect(() => countStates(policies));
  registry
    .gauge('lapse_limit_stopped', 'Rules that are stopped at a limit, until an approval.', ['rule'])
    .collect(() => countStopped(policies));
  return ttlMetrics({ registry, controller, now, count: () => countKinds(policies, now()) });
}

/** An object that several policies select counts once per policy. */
function countKinds(policies: Policies, now: Instant): Iterable<readonly [string, TtlCounts]> {
  const kinds = new Map<string, TtlCounts>();
  for (const { active, records } of policies.entries()) {
    if (active === undefined) continue;
    const kind = metricKind(active.kind);
    const { waiting, due } = records.count(now);
    const before = kinds.get(kind) ?? { waiting: 0, due: 0 };
    const dueHere = policies.isActing ? due : 0;
    kinds.set(kind, { waiting: before.waiting + waiting, due: before.due + dueHere });
  }
  return kinds;
}

function* countStopped(policies: Policies): Generator<readonly [values: readonly string[], value: number]> {
  const rules = { TTLPolicy: 0, ClusterTTLPolicy: 0 };
  for (const { active, limits } of policies.entries())
    if (active?.mode === 'Enforce' && limits.gate.state.exceeded !== undefined)
      rules[active.namespace === undefined ? 'ClusterTTLPolicy' : 'TTLPolicy']++;
  for (const [rule, count] of Object.entries(rules)) yield [[rule], count];
}

function* countStates(policies: Policies): Generator<readonly [values: readonly string[], value: number]> {
  const states = { ready: 0, pending: 0, blind: 0, broken: 0, refused: 0 };
  for (const entry of policies.entries()) states[standingOf(entry)]++;
  for (const [state, count] of Object.entries(states)) yield [[state], count];
}
