// How much a rule may delete. Pure: reconcile, plan and explain use the same functions. A budget (deletion/budget.ts) only
// delays deletions; a limit stops the rule until a user approves.
//
// Deletions are counted in the status before they are sent: `reserve` adds a block of them to the window, the caller
// writes the status, then sends the block. After a crash, the whole block counts as sent. So a crash can make a rule stop
// too early, but never delete more than its limit.

import { readDuration } from '@lapse/base/duration';
import {
  ceilSecond,
  formatTime,
  type Instant,
  instant,
  isDue,
  type Millis,
  parseTime,
  plus,
  seconds,
} from '@lapse/base/instant';
import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { LimitExceeded, LimitSource, LimitSpec, LimitsStatus, LimitWindow } from '#api/limits';

export interface Limit {
  readonly from: LimitSource;
  readonly maxDeletions?: number;
  readonly maxPercent?: number;
  readonly per: Millis;
  /** `per` as written, for messages. */
  readonly text: string;
}

export interface Situation {
  readonly limits: readonly Limit[];
  readonly now: Instant;
  readonly generation: number;
  /** The objects that the policy selects now. */
  readonly selected: number;
  /** Of these, the objects to be deleted now. */
  readonly due: number;
}

export type Reservation =
  /** This many deletions may be sent before `until`, once `state` is written. */
  | {
      readonly kind: 'reserved';
      readonly count: number;
      readonly until: Instant;
      readonly state: LimitsStatus;
    }
  /** The next deletion would exceed a limit. */
  | { readonly kind: 'exceeded'; readonly state: LimitsStatus };

/** A block is a tenth of the limit, so that a crash wastes at most that much. */
const BLOCKS = 10;
const MOST_IN_BLOCK = 500;
const FOREVER = instant(Number.POSITIVE_INFINITY);

/** Parses the limits of a spec. Reports errors with field paths. */
export function parseLimit(
  spec: LimitSpec | undefined,
  field: string,
): { readonly limit?: Limit; readonly errors: readonly FieldError[] } {
  if (spec === undefined) return { errors: [] };
  const { maxDeletions, maxPercent, per } = spec;
  const errors: FieldError[] = [];
  if (maxDeletions === undefined && maxPercent === undefined)
    errors.push(required(field, 'at least one of maxDeletions and maxPercent'));
  if (maxDeletions !== undefined && !isBetween(maxDeletions, 1, 1_000_000))
    errors.push(invalid(`${field}.maxDeletions`, maxDeletions, 'must be a whole number from 1 to 1000000'));
  if (maxPercent !== undefined && !isBetween(maxPercent, 1, 100))
    errors.push(invalid(`${field}.maxPercent`, maxPercent, 'must be a whole number from 1 to 100'));
  const length = parsePer(per, `${field}.per`, errors);
  if (errors.length > 0 || length === undefined) return { errors };
  return {
    limit: {
      from: 'spec',
      ...(maxDeletions === undefined ? {} : { maxDeletions }),
      ...(maxPercent === undefined ? {} : { maxPercent }),
      per: length,
      text: per,
    },
    errors,
  };
}

const isBetween = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most;

function parsePer(per: string | undefined, field: string, errors: FieldError[]): Millis | undefined {
  if (per === undefined || per === '') {
    errors.push(required(field, 'the length of the window, e.g. 1h'));
    return undefined;
  }
  const parsed = readDuration(per);
  if (parsed.kind === 'invalid') errors.push(invalid(field, per, parsed.error));
  else if (parsed.length < seconds(1)) errors.push(invalid(field, per, 'must be at least 1s'));
  else return parsed.length;
  return undefined;
}

/** How many deletions a window of this limit allows, and which of the two numbers is the smaller one. */
export function allowedIn(
  { maxDeletions = Number.POSITIVE_INFINITY, maxPercent }: Limit,
  { selected }: Pick<LimitWindow, 'selected'>,
): { readonly limit: 'maxDeletions' | 'maxPercent'; readonly allowed: number } {
  const share =
    maxPercent === undefined ? Number.POSITIVE_INFINITY : Math.ceil((selected * maxPercent) / 100);
  return share < maxDeletions
    ? { limit: 'maxPercent', allowed: share }
    : { limit: 'maxDeletions', allowed: maxDeletions };
}

/** Reserves the next block of deletions. */
export function reserve(state: LimitsStatus, situation: Situation): Reservation {
  if (state.exceeded !== undefined) return { kind: 'exceeded', state };
  const { approved } = state;
  if (approved !== undefined && approved.generation === situation.generation) {
    const left = approved.deletions - approved.used;
    if (left > 0) {
      const count = Math.min(blockOf(approved.deletions, situation), left);
      const used = approved.used + count;
      return {
        kind: 'reserved',
        count,
        until: FOREVER,
        state: { ...state, approved: { ...approved, used } },
      };
    }
  }
  return reserveInWindows(state, situation);
}

interface Open {
  readonly limit: Limit;
  readonly window: LimitWindow;
  readonly allowed: number;
}

function reserveInWindows(state: LimitsStatus, situation: Situation): Reservation {
  const open = situation.limits.map((limit): Open => {
    const window = windowOf(state, limit, situation);
    return { limit, window, allowed: allowedIn(limit, window).allowed };
  });
  const roomOf = ({ window, allowed }: Open) => allowed - window.deletions;
  const [narrowest] = [...open].sort((a, b) => roomOf(a) - roomOf(b));
  if (narrowest === undefined) return { kind: 'reserved', count: MOST_IN_BLOCK, until: FOREVER, state };
  const room = roomOf(narrowest);
  if (room <= 0) return exceed(state, situation, narrowest);
  const count = Math.min(room, blockOf(narrowest.allowed, situation));
  const windows = open.map(({ window }) => ({ ...window, deletions: window.deletions + count }));
  const until = instant(Math.min(...open.map(({ limit, window }) => endOf(limit, window))));
  return { kind: 'reserved', count, until, state: { ...state, windows } };
}

const blockOf = (allowed: number, { due }: Situation): number =>
  Math.max(1, Math.min(due, Math.floor(allowed / BLOCKS), MOST_IN_BLOCK));

const endOf = ({ per }: Limit, { startedAt }: LimitWindow): Instant => plus(parseTime(startedAt), per);

/** The current window of the limit. It begins with its first deletion; its start is rounded up, so it never ends early. */
function windowOf({ windows = [] }: LimitsStatus, limit: Limit, { now, selected }: Situation): LimitWindow {
  const known = windows.find(({ from }) => from === limit.from);
  if (known !== undefined && !isDue(endOf(limit, known), now)) return known;
  return { from: limit.from, startedAt: formatTime(ceilSecond(now)), selected, deletions: 0 };
}

function exceed(state: LimitsStatus, { now, generation, due }: Situation, at: Open): Reservation {
  const { limit, window } = at;
  const exceeded: LimitExceeded = {
    ...allowedIn(limit, window),
    from: limit.from,
    deletions: window.deletions,
    due,
    at: formatTime(now),
    generation,
    since: window.startedAt,
    per: limit.text,
  };
  return { kind: 'exceeded', state: { ...state, state: 'Exceeded', exceeded } };
}

/** A rule that starts to delete, or whose spec changed, stops if more than `firstActivation` objects are due at once. */
export function exceedsFirstActivation(due: number, firstActivation: number): boolean {
  return firstActivation > 0 && due > firstActivation;
}

export function exceedFirstActivation(
  state: LimitsStatus,
  {
    now,
    generation,
    due,
    allowed,
  }: Pick<Situation, 'now' | 'generation' | 'due'> & { readonly allowed: number },
): LimitsStatus {
  const exceeded: LimitExceeded = {
    limit: 'firstActivation',
    from: 'configuration',
    allowed,
    deletions: 0,
    due,
    at: formatTime(now),
    generation,
  };
  return { ...state, state: 'Exceeded', exceeded };
}

/** `rule`: how `lapse approve` names the rule. */
export const describeExceeded = (exceeded: LimitExceeded, due: number, rule: string): string =>
  `stopped at its limit: ${describeLimit(exceeded, due)}; nothing is deleted before: lapse approve ${rule}`;

export const describeFirstActivation = (due: number, allowed: number): string =>
  `${due} objects are due, and limits.firstActivation of the configuration allows ${allowed} when a policy starts to delete`;

export function describeLimit(
  { limit, from, allowed, deletions, since, per }: LimitExceeded,
  due: number,
): string {
  if (limit === 'firstActivation') return describeFirstActivation(due, allowed);
  const field = from === 'spec' ? `spec.limits.${limit}` : `limits.${limit} of the configuration`;
  // A Cleaner deletes everything at once.
  if (per === undefined) return `${due} deletions, ${field} allows ${allowed}`;
  const window = ` per ${per} (since ${since})`;
  return `${deletions} deletions, ${field} allows ${allowed}${window}; ${due} more ${due === 1 ? 'object is' : 'objects are'} due`;
}

/** `ttlpolicy/runs -n ci`. */
export const ruleArgument = (
  kind: string,
  { namespace, name = '' }: { namespace?: string; name?: string },
): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined || namespace === '' ? '' : ` -n ${namespace}`}`;
