// Computes the readiness of a process. Each cache of a static source must have synced once, or its kind must not be
// served: a missing CRD is only reported, and only its own controllers wait for it. Caches of kinds named in policies are
// only reported; otherwise the author of a policy could make every replica unready.

import type { CacheStatus } from './caches.ts';

export interface Readiness {
  readonly ready: boolean;
  /** All problems, including those that do not make the process unready. */
  readonly problems: readonly string[];
}

export interface SourceStatus {
  readonly source: string;
  readonly status: CacheStatus;
  /** It is a static source of a controller. */
  readonly isNeeded: boolean;
}

/** `isStarted`: the initial sync is over, and the process is the leader or a standby. */
export function computeReadiness(isStarted: boolean, sources: Iterable<SourceStatus>): Readiness {
  const problems: string[] = [];
  let ready = isStarted;
  for (const { source, status, isNeeded } of sources) {
    const { synced, problem } = status;
    if (problem !== undefined)
      problems.push(`${source}: ${problem.verb} ${problem.kind}: ${problem.error.message}`);
    else if (!synced) problems.push(`${source}: not synced yet`);
    if (isNeeded && !synced && problem?.kind !== 'notServed') ready = false;
  }
  return { ready, problems };
}
