// Who leads, where nobody is elected: a process without an election acts from the start, and its metrics say so. Alerts
// take a missing series for a cluster in which nothing ends.

import type { Registry } from '@lapse/runtime/metrics/registry';
import type { Assembly } from './assemble.ts';
import type { General } from './configuration/general.ts';

/** With an election the elector says it. */
export function tellLeadership(
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
