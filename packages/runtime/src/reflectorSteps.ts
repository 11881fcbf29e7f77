// What a reflector does next, as a table: where it stands × how the attempt ended → where it goes and how long it
// pauses before. Pure, so that every transition is one case and one row of a test.
//
//   empty ──► listing ──► watching ──► (end of stream) watching from the last version
//     ▲          │            │
//     └──────────┴── 410 ─────┘   whatever else happens: pause and try again, for ever

import { computeBackoff } from '@lapse/base/backoff';
import { type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { ApiError } from '@lapse/kube/api/status';
import { isExpired } from '@lapse/kube/client/errors';
import { TransportError } from '@lapse/kube/client/transport';
import { askedToWait } from './retry.ts';

/** `stream`: a watch that begins with everything; `pages`: a paged list; `whole`: one list in a single answer. */
export type ListBy = 'stream' | 'pages' | 'whole';

export type State =
  | { readonly kind: 'empty' }
  | { readonly kind: 'listing'; readonly by: ListBy }
  | { readonly kind: 'watching'; readonly version: string };

export interface Progress {
  readonly state: State;
  /** Attempts in a row that achieved nothing. */
  readonly failures: number;
  /** How the next list begins. `pages` for good once the server says that it does not do streaming lists. */
  readonly by: 'stream' | 'pages';
}

/** How an attempt (a list, a watch, or a streaming list that became a watch) ended. */
export type Ending =
  /** A list is complete. */
  | { readonly kind: 'listed'; readonly version: string }
  /** The server closed the stream in good order. */
  | { readonly kind: 'closed'; readonly watched: Watched }
  /** A streaming list is of no use; `lasting`: the server does not do them. Otherwise pages serve this time. */
  | { readonly kind: 'unsupported'; readonly lasting: boolean }
  | { readonly kind: 'failed'; readonly error: Error; readonly watched: Watched };

/** What a watch achieved before it ended; a list that came before it on the same stream does not count. */
export interface Watched {
  readonly events: number;
  readonly lasted: Millis;
}

export const NOTHING_WATCHED: Watched = { events: 0, lasted: millis(0) };

export const START: Progress = { state: { kind: 'empty' }, failures: 0, by: 'stream' };

const BACKOFF = { first: millis(200), max: seconds(30) };
/** Only an administrator can end these; asking often helps nobody. */
const REFUSED_BACKOFF = { first: seconds(1), max: minutes(5) };
/** A watch that stood this long, or brought something, was a good one. */
const STOOD = seconds(5);
/** A watch that stumbles this often over the same place lists anew to get past it. */
const STUCK = 3;

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

/** Refusals of a streaming list that a plain list would not meet: the parameter is unknown. */
const isUnsupported = (error: Error): boolean =>
  error instanceof ApiError && [400, 405, 406, 422, 501].includes(error.code);
/** Watching is forbidden, and listing perhaps not. Rights change. */
const isForbidden = (error: Error): boolean => error instanceof ApiError && error.code === 403;

/** Pages instead of a streaming list, for good or this time. */
const listPages = (progress: Progress, lasting: boolean): Progress => ({
  ...progress,
  by: lasting ? 'pages' : progress.by,
  state: { kind: 'listing', by: 'pages' },
});

/** Nothing to resume from: list. */
export const beginListing = (progress: Progress): Progress => ({
  ...progress,
  state: { kind: 'listing', by: progress.by },
});

/** Where to go after an attempt made in `progress.state`. */
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
    // Failures stay counted until the watch is good: a watch that always fails must not list in a loop.
    case 'listed':
      return { ...progress, state: { kind: 'watching', version: ending.version } };
    case 'unsupported':
      return listPages(progress, ending.lasting);
    // A streaming list that ends before it is complete.
    case 'closed':
      return { ...failed(progress), state: { kind: 'empty' } };
    case 'failed':
      if (by === 'stream' && isUnsupported(ending.error)) return listPages(progress, true);
      if (by === 'stream' && isForbidden(ending.error)) return listPages(progress, false);
      // Pages that expire faster than they can be read: a single answer cannot.
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
      return isGood(ending.watched) ? { ...progress, failures: 0 } : failed(progress);
    case 'failed': {
      const after = failed(isGood(ending.watched) ? { ...progress, failures: 0 } : progress);
      return mustRelist(ending.error, after.failures) ? { ...after, state: { kind: 'empty' } } : after;
    }
  }
}

const isGood = ({ events, lasted }: Watched): boolean => events > 0 || lasted >= STOOD;

/** Whether the version cannot be resumed from; or the watch is forbidden, and listing is all that is left. */
function mustRelist(error: Error, failures: number): boolean {
  const kind = classify(error);
  if (kind === 'expired' || kind === 'forbidden' || kind === 'notServed') return true;
  // An answer that names the version: it is from a future this server does not know (restored from a backup).
  if (error instanceof ApiError && error.code === 504 && error.message.includes('resource version'))
    return failures >= STUCK;
  return kind === 'malformed' && failures >= STUCK;
}

const failed = (progress: Progress): Progress => ({ ...progress, failures: progress.failures + 1 });

/** How long to wait before the next attempt; `next` is what `computeNext` gave. */
export function computePause(next: Progress, ending: Ending, random: Random): Millis {
  if (next.failures === 0 || ending.kind === 'listed' || ending.kind === 'unsupported') return millis(0);
  if (ending.kind === 'closed') return computeBackoff(next.failures, BACKOFF, random);
  const kind = classify(ending.error);
  // The first 410 is ordinary: history is finite. A server that keeps saying it is paused for like any other.
  if (kind === 'expired' && next.failures === 1) return millis(0);
  if (next.state.kind === 'listing' && next.state.by === 'pages') return millis(0);
  const backoff = kind === 'forbidden' ? REFUSED_BACKOFF : BACKOFF;
  const asked = Math.min(askedToWait(ending.error), minutes(1));
  return millis(Math.max(computeBackoff(next.failures, backoff, random), asked));
}
