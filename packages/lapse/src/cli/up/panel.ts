// The live view: per family the waiting, due, done and next objects; below, the latest ones. Plain lines that fit
// the terminal, and at most half of its height.

import { type Instant, millis, minus } from '@lapse/base/instant';
import { lengthText } from '@lapse/simulation/timeline';
import type { Done, Overview, Standing } from './tally.ts';

export interface PanelOptions {
  /** Width of the terminal. */
  readonly columns: number;
  readonly rows: number;
  readonly speed: number;
  readonly stamp: (at: Instant) => string;
}

const NARROWEST = 40;
const FAMILY = 20;
/** Lines around the families: a rule, the header, the latest done objects. */
const AROUND = 3;

export function panelLines(overview: Overview, options: PanelOptions): string[] {
  const width = Math.max(NARROWEST, options.columns) - 1;
  const room = Math.max(1, Math.floor(options.rows / 2) - AROUND);
  const { standings, latestDone } = overview;
  const shown = busiest(standings, room);
  const lines = [
    ruleLine(overview, options, width),
    row(['family', 'waiting', 'due', 'done', 'next']),
    ...shown.map((standing) => standingLine(standing, options)),
  ];
  if (shown.length < standings.length) lines.push(`… and ${standings.length - shown.length} more families`);
  lines.push(doneLine(latestDone, options));
  return lines.map((line) => cut(line, width));
}

/** Families with due or upcoming objects first, then by name. */
function busiest(standings: readonly Standing[], room: number): readonly Standing[] {
  if (standings.length <= room) return standings;
  const soonest = [...standings].sort((a, b) => nextOf(a) - nextOf(b)).slice(0, Math.max(1, room - 1));
  return standings.filter((standing) => soonest.includes(standing));
}
const nextOf = ({ next }: Standing): number => next?.at ?? Number.POSITIVE_INFINITY;

function ruleLine({ now, start }: Overview, { speed, stamp }: PanelOptions, width: number): string {
  // At high speed, seconds are omitted.
  const unit = speed === 1 ? 1000 : 60_000;
  const since = lengthText(millis(Math.floor(minus(now, start) / unit) * unit));
  const pace = speed === 1 ? '' : ` · ${speed.toLocaleString('en')} times as fast`;
  return `── ${stamp(now)} · ${since} so far${pace} `.padEnd(width, '─');
}

const row = ([family, waiting, due, done, next]: readonly [string, string, string, string, string]) =>
  `${cut(family, FAMILY).padEnd(FAMILY)} ${waiting.padStart(7)} ${due.padStart(5)} ${done.padStart(6)}  ${next}`;

/** The next event, or else the last one. */
function standingLine({ family, waiting, due, done, next, last }: Standing, { stamp }: PanelOptions): string {
  const was = last === undefined ? '' : `last ${stamp(last.at)} ${last.ref}`;
  const then = next === undefined ? was : `${stamp(next.at)} ${next.ref}`;
  return row([family, String(waiting), String(due), String(done), then]);
}

function doneLine(latest: readonly Done[], { stamp }: PanelOptions): string {
  const [last, ...others] = latest;
  if (last === undefined) return 'latest: nothing yet';
  const more = others.slice(0, 2).map(({ ref }) => ref);
  return `latest: ${[`${last.ref} at ${stamp(last.at)} by ${last.by}`, ...more].join(', ')}`;
}

/** Truncated with an ellipsis if it is too long. */
export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`;
