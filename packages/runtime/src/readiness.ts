// Whether a process is ready. A cache that a controller was defined with must have synced once, or its kind must not be
// served: a missing CRD is listed, and only its own controllers wait for it. Caches of kinds that policies name are listed
// and never decide: otherwise the author of a policy could make every replica unready.

import type { CacheStatus } from './caches.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Everything that is missing, also what does not make the process unready. */
  readonly problems: readonly string[];
}

export interface SourceStatus {
  readonly source: string;
  readonly status: CacheStatus;
  /** A controller was defined with it. */
  readonly isNeeded: boolean;
}

/** `isStarted`: the caches were waited for, and the process leads or stands by. */
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
