// The report of a simulation: a table as text, and a structured document.

import { formatTime, type Instant, type Millis, minus } from '@lapse/base/instant';
import { lengthText } from '@lapse/simulation/timeline';
import { plainText } from '#console/escape';
import { refOfDeletion, type SimulatedDeletion } from '#forecast/simulate/deletionLog';
import type { Contrast } from '#forecast/simulate/difference';
import { table } from '../table.ts';

export interface Report {
  readonly from: Instant;
  readonly until: Instant;
  readonly seed: number;
  readonly objects: number;
  readonly deletions: readonly SimulatedDeletion[];
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

function deletionRow(deletion: SimulatedDeletion): string[] {
  const held = deletion.gone === undefined ? ' (terminating: a finalizer keeps it)' : '';
  return [day(deletion.at), refOfDeletion(deletion), deletion.by, `${deletion.because}${held}`];
}

function contrastRow(contrast: Contrast): string[] {
  const { kind, deletion } = contrast;
  const ref = plainText(refOfDeletion(deletion));
  if (kind === 'only with') return ['+', day(deletion.at), ref, `deleted only with it: ${deletion.by}`];
  if (kind === 'only without') return ['-', day(deletion.at), ref, `deleted only without it: ${deletion.by}`];
  const by = lengthText(contrast.by);
  return [
    kind === 'earlier' ? '<' : '>',
    day(deletion.at),
    ref,
    `${by} ${kind}, was ${day(contrast.before.at)}`,
  ];
}

const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

const DELETIONS = {
  header: ['WHEN', 'WHAT', 'BY', 'WHY'],
  rowOf: (deletion: SimulatedDeletion) => deletionRow(deletion).map((cell) => plainText(cell)),
  first: 2,
  beneath: ([, , by, why]: readonly string[]) => `${by}: ${why}`,
};

/** `columns`: width of the terminal. Undefined: lines are not wrapped. Control characters in names are escaped. */
export function reportText(report: Report, columns?: number): string {
  const { from, until, objects, deletions, difference, notes, problems } = report;
  const length = lengthText(minus(until, from) as Millis);
  const lines = [
    `${day(from)} to ${day(until)} UTC (${length}): ${counted(objects, 'object')}, ${counted(deletions.length, 'deletion')}`,
  ];
  if (deletions.length > 0) lines.push('', ...table(deletions, DELETIONS, { bold: (text) => text, columns }));
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

function deletionJson({ at, gone, ...deletion }: SimulatedDeletion) {
  return { at: formatTime(at), ...(gone === undefined ? {} : { gone: formatTime(gone) }), ...deletion };
}

/** For scripts (JSON and YAML). */
export function reportDocument(report: Report): object {
  const { from, until, seed, objects, deletions, difference, notes, problems } = report;
  const contrasts = difference?.map((contrast) => ({
    kind: contrast.kind,
    deletion: deletionJson(contrast.deletion),
    ...('before' in contrast
      ? { before: formatTime(contrast.before.at), bySeconds: contrast.by / 1000 }
      : {}),
  }));
  return {
    from: formatTime(from),
    until: formatTime(until),
    seed,
    objects,
    deletions: deletions.map(deletionJson),
    ...(contrasts === undefined ? {} : { difference: contrasts }),
    problems,
    notSimulated: notes,
  };
}
