// The live view: per controller what waits, what is due, what has ended and what comes next; beneath it what ended last.
// Lines of plain text no wider than the terminal, and no more of them than half of it can hold.

import { type Instant, millis, minus } from '#base/instant';
import { lengthText } from '#sim/timeline';
import type { Ended, Overview, Standing } from './tally.ts';

export interface PanelOptions {
  /** Of the terminal. */
  readonly columns: number;
  readonly rows: number;
  readonly speed: number;
  readonly stamp: (at: Instant) => string;
}

const NARROWEST = 40;
const CONTROLLER = 23;
/** Lines around the controllers: a rule, the head, what ended. */
const AROUND = 3;

export function panelLines(overview: Overview, options: PanelOptions): string[] {
  const width = Math.max(NARROWEST, options.columns) - 1;
  const room = Math.max(1, Math.floor(options.rows / 2) - AROUND);
  const { standings, justEnded } = overview;
  const shown = busiest(standings, room);
  const lines = [
    ruleLine(overview, options, width),
    row(['controller', 'waiting', 'due', 'ended', 'next']),
    ...shown.map((standing) => standingLine(standing, options)),
  ];
  if (shown.length < standings.length)
    lines.push(`… and ${standings.length - shown.length} more controllers`);
  lines.push(endedLine(justEnded, options));
  return lines.map((line) => cut(line, width));
}

/** Those that have something due or coming first; in the order of names. */
function busiest(standings: readonly Standing[], room: number): readonly Standing[] {
  if (standings.length <= room) return standings;
  const soonest = [...standings].sort((a, b) => nextOf(a) - nextOf(b)).slice(0, Math.max(1, room - 1));
  return standings.filter((standing) => soonest.includes(standing));
}
const nextOf = ({ next }: Standing): number => next?.at ?? Number.POSITIVE_INFINITY;

function ruleLine({ now, start }: Overview, { speed, stamp }: PanelOptions, width: number): string {
  const since = lengthText(millis(Math.floor(minus(now, start) / 60_000) * 60_000));
  const pace = speed === 1 ? '' : ` · ${speed.toLocaleString('en')} times as fast`;
  return `── ${stamp(now)} · ${since} so far${pace} `.padEnd(width, '─');
}

const row = ([controller, waiting, due, ended, next]: readonly [string, string, string, string, string]) =>
  `${cut(controller, CONTROLLER).padEnd(CONTROLLER)} ${waiting.padStart(7)} ${due.padStart(5)} ${ended.padStart(6)}  ${next}`;

function standingLine({ controller, waiting, due, ended, next }: Standing, { stamp }: PanelOptions): string {
  const then = next === undefined ? '' : `${stamp(next.at)} ${next.ref}`;
  return row([controller, String(waiting), String(due), String(ended), then]);
}

function endedLine(latest: readonly Ended[], { stamp }: PanelOptions): string {
  const [last, ...others] = latest;
  if (last === undefined) return 'just ended: nothing yet';
  const more = others.slice(0, 2).map(({ ref }) => ref);
  return `just ended: ${[`${last.ref} at ${stamp(last.at)} by ${last.by}`, ...more].join(', ')}`;
}

/** Cut with an ellipsis when it is too long. */
export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`;
