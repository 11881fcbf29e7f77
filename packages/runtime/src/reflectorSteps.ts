// The state machine of a reflector: state × how the last attempt ended → next state and the pause before it.
// Pure, so that each transition is one case here and one row in the test.
//
//   empty ──► listing ──► watching ──► (end of stream) watching from the last version
//     ▲          │            │
//     └──────────┴── 410 ─────┘   any other failure: back off and retry without limit

import { computeBackoff } from '@lapse/base/backoff';
import { type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { ApiError } from '@lapse/kube/api/status';
import { isExpired } from '@lapse/kube/client/errors';
import { TransportError } from '@lapse/kube/client/transport';
import { retryAfterOf } from './retry.ts';

/** `stream`: a watch with sendInitialEvents; `pages`: a paged list; `whole`: one list without a limit. */
export type ListBy = 'stream' | 'pages' | 'whole';

export type State =
  | { readonly kind: 'empty' }
  | { readonly kind: 'listing'; readonly by: ListBy }
  | { readonly kind: 'watching'; readonly version: string };

export interface Progress {
  readonly state: State;
  /** Consecutive failed attempts. */
  readonly failures: number;
  /** How the next list starts. Stays `pages` once the server has rejected streaming lists. */
  readonly by: 'stream' | 'pages';
}

/** How an attempt (a list, a watch, or a streaming list that became a watch) ended. */
export type Ending =
  /** A list is complete. */
  | { readonly kind: 'listed'; readonly version: string }
  /** The server closed the stream without an error. */
  | { readonly kind: 'closed'; readonly watched: Watched }
  /** The streaming list did not work. `lasting`: the server does not support them; otherwise only the next list is paged. */
  | { readonly kind: 'unsupported'; readonly lasting: boolean }
  | { readonly kind: 'failed'; readonly error: Error; readonly watched: Watched };

/** Events and duration of a watch that ended. A streaming list before it on the same stream does not count. */
export interface Watched {
  readonly events: number;
  readonly lasted: Millis;
}

export const NOTHING_WATCHED: Watched = { events: 0, lasted: millis(0) };

export const START: Progress = { state: { kind: 'empty' }, failures: 0, by: 'stream' };

const BACKOFF = { first: millis(200), max: seconds(30) };
/** For failures that only an administrator can resolve: frequent retries do not help. */
const REFUSED_BACKOFF = { first: seconds(1), max: minutes(5) };
/** A watch that lasted this long or delivered an event counts as a success. */
const SUCCESS_DURATION = seconds(5);
/** After this many failures at the same version the reflector relists. */
const RELIST_AFTER = 3;

export type ProblemKind = 'forbidden' | 'notServed' | 'expired' | 'overloaded' | 'malformed' | 'unavailable';

export function classify(error: Error): ProblemKind {
  if (isExpired(error)) return 'expired';
  if (error instanceof ApiError) {
    if (error.code === 401 || error.code === 403) return 'forbidden';
    if (error.code === 404 || error.code === 405) return 'notServed';
    return error.code === 429 ? 'overloaded' : 'unavailable';
  }
  if (error instanceof TransportError && error.failure === 'malformed') return 'malformed';
  return 'unavailable';
}

/** Whether the server rejected the streaming list because it does not know the parameter. A plain list may work. */
const isUnsupported = (error: Error): boolean =>
  error instanceof ApiError && [400, 405, 406, 422, 501].includes(error.code);
/** Watching is forbidden; listing may be allowed. RBAC rules can change, so this is not permanent. */
const isForbidden = (error: Error): boolean => error instanceof ApiError && error.code === 403;

/** Switches from a streaming list to a paged list: permanently if `lasting`, otherwise for the next list. */
const listPages = (progress: Progress, lasting: boolean): Progress => ({
  ...progress,
  by: lasting ? 'pages' : progress.by,
  state: { kind: 'listing', by: 'pages' },
});

/** Starts a list, because there is no version to resume from. */
export const beginListing = (progress: Progress): Progress => ({
  ...progress,
  state: { kind: 'listing', by: progress.by },
});

/** The progress after an attempt made in `progress.state`. */
export function computeNext(progress: Progress, ending: Ending): Progress {
  const { state } = progress;
  switch (state.kind) {
    case 'empty':
      return beginListing(progress);
    case 'listing':
      return afterListing(progress, state.by, ending);
    case 'watching':
      return afterWatching(progress, ending);
  }
}

function afterListing(progress: Progress, by: ListBy, ending: Ending): Progress {
  switch (ending.kind) {
    // The failure count is kept until a watch succeeds. Otherwise a watch that always fails would relist without a pause.
    case 'listed':
      return { ...progress, state: { kind: 'watching', version: ending.version } };
    case 'unsupported':
      return listPages(progress, ending.lasting);
    // The streaming list ended before it was complete.
    case 'closed':
      return { ...failed(progress), state: { kind: 'empty' } };
    case 'failed':
      if (by === 'stream' && isUnsupported(ending.error)) return listPages(progress, true);
      if (by === 'stream' && isForbidden(ending.error)) return listPages(progress, false);
      // The continue token expired before all pages were read. A single unpaged list cannot expire.
      if (by === 'pages' && isExpired(ending.error))
        return { ...failed(progress), state: { kind: 'listing', by: 'whole' } };
      return { ...failed(progress), state: { kind: 'empty' } };
  }
}

function afterWatching(progress: Progress, ending: Ending): Progress {
  switch (ending.kind) {
    case 'listed':
    case 'unsupported':
      throw new Error(`unreachable: a watch does not end as ${ending.kind}`);
    case 'closed':
      return isSuccess(ending.watched) ? { ...progress, failures: 0 } : failed(progress);
    case 'failed': {
      const after = failed(isSuccess(ending.watched) ? { ...progress, failures: 0 } : progress);
      return mustRelist(ending.error, after.failures) ? { ...after, state: { kind: 'empty' } } : after;
    }
  }
}

const isSuccess = ({ events, lasted }: Watched): boolean => events > 0 || lasted >= SUCCESS_DURATION;

/** Whether the watch cannot resume from its version, or is refused so that only listing is left. */
function mustRelist(error: Error, failures: number): boolean {
  const kind = classify(error);
  if (kind === 'expired' || kind === 'forbidden' || kind === 'notServed') return true;
  // The server rejects the version as newer than its own, for example after it was restored from a backup.
  if (error instanceof ApiError && error.code === 504 && error.message.includes('resource version'))
    return failures >= RELIST_AFTER;
  return kind === 'malformed' && failures >= RELIST_AFTER;
}

const failed = (progress: Progress): Progress => ({ ...progress, failures: progress.failures + 1 });

/** How long to wait before the next attempt. `next` is the result of `computeNext`. */
export function computePause(next: Progress, ending: Ending, random: Random): Millis {
  if (next.failures === 0 || ending.kind === 'listed' || ending.kind === 'unsupported') return millis(0);
  if (ending.kind === 'closed') return computeBackoff(next.failures, BACKOFF, random);
  const kind = classify(ending.error);
  // A single 410 is normal because history is compacted. Repeated 410s back off like other failures.
  if (kind === 'expired' && next.failures === 1) return millis(0);
  if (next.state.kind === 'listing' && next.state.by === 'pages') return millis(0);
  const backoff = kind === 'forbidden' ? REFUSED_BACKOFF : BACKOFF;
  const retryAfter = Math.min(retryAfterOf(ending.error), minutes(1));
  return millis(Math.max(computeBackoff(next.failures, backoff, random), retryAfter));
}
