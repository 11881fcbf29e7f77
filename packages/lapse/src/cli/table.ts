// Text tables with columns as wide as their content. On a terminal the last column is wrapped. If it would be too
// narrow, the remaining cells are printed below the first cells of the row.

import { wrapped } from './help.ts';

export type Row = readonly string[];
export type Style = (text: string) => string;

/** The cells of one item, in one row or, on a narrow terminal, below its first cells. */
export interface Table<T> {
  readonly header: Row;
  readonly rowOf: (one: T) => Row;
  /** Number of cells that stay in the row. */
  readonly first: number;
  readonly beneath: (row: Row) => string;
}

export interface TableOptions {
  /** For the header. */
  readonly bold: Style;
  /** Width of the terminal. Undefined: lines are not wrapped. */
  readonly columns?: number | undefined;
}

/** Minimum width of the last column. */
const LEAST_LAST = 40;
const INDENT = 4;
/** Text is not wrapped below this width. */
const LEAST_WIDE = 20;

/** Rows are generated twice, once for their widths: a hundred thousand rows need more memory than the plan itself. */
export function* table<T>(
  of: readonly T[],
  what: Table<T>,
  { bold, columns }: TableOptions,
): Generator<string> {
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
