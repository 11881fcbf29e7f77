// Tables for people: columns as wide as what is in them. On a terminal the last one is folded, and where that leaves
// too little of it, what does not fit comes beneath the first cells of its row.

import { wrapped } from './help.ts';

export type Row = readonly string[];
export type Style = (text: string) => string;

/** What is said of one thing: in a row, and, where the terminal is too narrow for that, beneath its first cells. */
export interface Table<T> {
  readonly header: Row;
  readonly rowOf: (one: T) => Row;
  /** How many cells stay in the row. */
  readonly first: number;
  readonly beneath: (row: Row) => string;
}

export interface Manner {
  /** For the header. */
  readonly bold: Style;
  /** Of the terminal; unset: lines are as long as they are. */
  readonly columns?: number | undefined;
}

/** Columns that are worth a column of their own. */
const LEAST_LAST = 40;
const INDENT = 4;
/** Below that, nothing is worth folding. */
const LEAST_WIDE = 20;

/** Rows are made twice, once for their widths: a hundred thousand of them are more than a plan itself. */
export function* table<T>(of: readonly T[], what: Table<T>, { bold, columns }: Manner): Generator<string> {
  const { header, rowOf, first, beneath } = what;
  const widths = header.map((title) => title.length);
  for (const one of of)
    rowOf(one).forEach((cell, i) => {
      widths[i] = Math.max(widths[i]!, cell.length);
    });
  const line = (row: Row) =>
    row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join('  ');
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const room = columns === undefined ? Number.POSITIVE_INFINITY : columns - before;
  const isNarrow = room < Math.min(LEAST_LAST, widths.at(-1)!);
  const under = (text: string, indent: number) =>
    wrapped(text, Math.max(columns! - indent, LEAST_WIDE)).join(`\n${' '.repeat(indent)}`);
  const shown = (row: Row) => {
    if (isNarrow) return `${line(row.slice(0, first))}\n${' '.repeat(INDENT)}${under(beneath(row), INDENT)}`;
    return row.at(-1)!.length <= room ? line(row) : line([...row.slice(0, -1), under(row.at(-1)!, before)]);
  };
  yield bold(line(isNarrow ? header.slice(0, first) : header));
  for (const one of of) yield shown(rowOf(one));
}
