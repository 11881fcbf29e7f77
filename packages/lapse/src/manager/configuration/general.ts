// Reads the general part of the validated configuration into typed values.

import { parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';
import type { Level } from '@lapse/base/log';
import type { JsonObject } from '@lapse/kube/api/json';
import { readTrashSettings, type TrashSettings } from '#trash/settings';
import { UsageError } from '../usage.ts';

export interface General {
  /** Default: depends on the command. */
  readonly controllers?: readonly string[];
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly namespace?: string;
  readonly dryRun: boolean;
  /** Whose rights count. */
  readonly actAs: 'author' | 'controller';
  /** `actAs: impersonate-author`: deletes are sent as the author, not as Lapse. */
  readonly impersonateAuthor: boolean;
  readonly maxClockSkew: Millis;
  readonly deletions: {
    readonly perSecond?: number;
    readonly perMinute?: number;
    readonly paranoidReread: boolean;
  };
  readonly trash: TrashSettings;
  readonly leaderElection: {
    readonly enabled: boolean;
    readonly namespace?: string;
    readonly name?: string;
    readonly leaseDuration: Millis;
    readonly renewDeadline: Millis;
    readonly retryPeriod: Millis;
  };
  readonly clientConnection: { readonly qps?: number; readonly burst?: number; readonly maxInFlight: number };
  readonly metrics: { readonly bindAddress?: string };
  readonly webhook: {
    readonly bindAddress?: string;
    readonly certFile?: string;
    readonly keyFile?: string;
    /** `[namespace/]name`. */
    readonly secret?: string;
    readonly hosts?: readonly string[];
    readonly configurations: readonly string[];
    readonly clientCAFile?: string;
    readonly clientNames?: readonly string[];
  };
  readonly api: { readonly bindAddress?: string; readonly maxObjects: number };
  readonly log: { readonly format: 'auto' | 'json' | 'text'; readonly level: Level };
}

const durationOf = (text: unknown): Millis => millis(Number(parseGoDuration(String(text)) / 1_000_000n));

/** `document` is complete and valid. */
export function readGeneral(document: JsonObject): General {
  const general = document as unknown as General;
  const { leaderElection } = general;
  const election = {
    ...leaderElection,
    leaseDuration: durationOf(leaderElection.leaseDuration),
    renewDeadline: durationOf(leaderElection.renewDeadline),
    retryPeriod: durationOf(leaderElection.retryPeriod),
  };
  const { leaseDuration, renewDeadline, retryPeriod } = election;
  // The elector's own condition, including the jitter of its retries.
  if (!(retryPeriod > 0 && retryPeriod * 1.2 < renewDeadline && renewDeadline < leaseDuration))
    throw new UsageError(
      'leaderElection: needs retryPeriod < renewDeadline < leaseDuration, with room between',
    );
  const actAs = general.actAs === 'controller' ? 'controller' : 'author';
  const impersonateAuthor = document.actAs === 'impersonate-author';
  return {
    ...general,
    actAs,
    impersonateAuthor,
    maxClockSkew: durationOf(general.maxClockSkew),
    trash: readTrashSettings(document.trash as JsonObject),
    leaderElection: election,
  };
}
