// The leadership metric without leader election: the process acts from the start, and its metric says so. Alerts
// treat a missing series as a cluster without an active process.

import type { Registry } from '@lapse/runtime/metrics/registry';
import type { Assembly } from './assemble.ts';
import type { General } from './configuration/general.ts';

/** With leader election the elector sets the metric. */
export function recordLeadership(
  registry: Registry,
  lease: Assembly['lease'],
  { leaderElection }: Pick<General, 'leaderElection'>,
): void {
  if (lease !== undefined) return;
  registry
    .gauge('leader_election_master_status', '1 while this process leads.', ['name'])
    .with(leaderElection.name ?? 'lapse')
    .set(1);
}
