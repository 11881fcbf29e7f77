// The report of a simulation: a table as text, and a structured document.

import { formatTime, type Instant, type Millis, minus } from '@lapse/base/instant';
import { lengthText } from '@lapse/simulation/timeline';
import { plainText } from '#console/escape';
import { type End, refOfEnd } from '#forecast/simulate/deletionLog';
import type { Contrast } from '#forecast/simulate/difference';
import { table } from '../table.ts';

export interface Report {
  readonly from: Instant;
  readonly until: Instant;
  readonly seed: number;
  readonly objects: number;
  readonly ends: readonly End[];
  /** Undefined: no policies were changed. */
  readonly difference?: readonly Contrast[];
  readonly notes: readonly string[];
  /** False: a part of the cluster could not be read. The notes say which. */
  readonly isComplete: boolean;
  readonly problems: readonly string[];
}

const day = (at: Instant): string => formatTime(at).slice(0, 19).replace('T', ' ');

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
}

function endRow(end: End): string[] {
  const held = end.gone === undefined ? ' (terminating: a finalizer keeps it)' : '';
  return [day(end.at), refOfEnd(end), end.by, `${end.because}${held}`];
}

function contrastRow(contrast: Contrast): string[] {
  const { kind, end } = contrast;
  const ref = plainText(refOfEnd(end));
  if (kind === 'only with') return ['+', day(end.at), ref, `deleted only with it: ${end.by}`];
  if (kind === 'only without') return ['-', day(end.at), ref, `deleted only without it: ${end.by}`];
  const by = lengthText(contrast.by);
  return [kind === 'earlier' ? '<' : '>', day(end.at), ref, `${by} ${kind}, was ${day(contrast.before.at)}`];
}

const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

const ENDS = {
  header: ['WHEN', 'WHAT', 'BY', 'WHY'],
  rowOf: (end: End) => endRow(end).map((cell) => plainText(cell)),
  first: 2,
  beneath: ([, , by, why]: readonly string[]) => `${by}: ${why}`,
};

/** `columns`: width of the terminal. Undefined: lines are not wrapped. Control characters in names are escaped. */
export function reportText(report: Report, columns?: number): string {
  const { from, until, objects, ends, difference, notes, problems } = report;
  const length = lengthText(minus(until, from) as Millis);
  const lines = [
    `${day(from)} to ${day(until)} UTC (${length}): ${counted(objects, 'object')}, ${counted(ends.length, 'deletion')}`,
  ];
  if (ends.length > 0) lines.push('', ...table(ends, ENDS, { bold: (text) => text, columns }));
  if (difference !== undefined) lines.push('', ...differenceLines(difference));
  if (problems.length > 0)
    lines.push('', 'Problems', ...problems.map((problem) => `  ${plainText(problem)}`));
  if (notes.length > 0) lines.push('', 'Not simulated', ...notes.map((note) => `  ${plainText(note)}`));
  return `${lines.join('\n')}\n`;
}

function differenceLines(difference: readonly Contrast[]): string[] {
  if (difference.length === 0) return ['no difference with --with'];
  const count = (kind: Contrast['kind']) => difference.filter((one) => one.kind === kind).length;
  const kinds = ['only with', 'only without', 'earlier', 'later'] as const;
  const sums = kinds.filter((kind) => count(kind) > 0).map((kind) => `${count(kind)} ${kind}`);
  return [`Difference with --with: ${sums.join(', ')}`, ...aligned(difference.map(contrastRow))];
}

function endJson({ at, gone, ...end }: End) {
  return { at: formatTime(at), ...(gone === undefined ? {} : { gone: formatTime(gone) }), ...end };
}

/** For scripts (JSON and YAML). */
export function reportDocument(report: Report): object {
  const { from, until, seed, objects, ends, difference, notes, problems } = report;
  const contrasts = difference?.map((contrast) => ({
    kind: contrast.kind,
    end: endJson(contrast.end),
    ...('before' in contrast
      ? { before: formatTime(contrast.before.at), bySeconds: contrast.by / 1000 }
      : {}),
  }));
  return {
    from: formatTime(from),
    until: formatTime(until),
    seed,
    objects,
    ends: ends.map(endJson),
    ...(contrasts === undefined ? {} : { difference: contrasts }),
    problems,
    notSimulated: notes,
  };
}
