// A plan for people at a terminal: what ends, in the order of time; what is held, and why; a summary at the end, where
// the eye is.

import { styleText } from 'node:util';
import { formatTime, type Instant } from '#base/instant';
import type { Change, Held, ObjectName, Plan, PlannedEnd, Taken } from './plan.ts';
import { relativeTime } from './times.ts';

export interface TextOptions {
  readonly colour: boolean;
  /** Also name what is taken along. */
  readonly wide: boolean;
}

/** Names come from a cluster: nothing in them may steer a terminal. */
const STEERING = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const plain = (text: string): string => text.replace(STEERING, '\ufffd');

const objectText = ({ kind, namespace, name }: ObjectName): string =>
  plain(`${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`);

type Row = readonly string[];

function table(header: Row, rows: readonly Row[], bold: (text: string) => string): string[] {
  const widths = header.map((title, i) =>
    rows.reduce((most, row) => Math.max(most, row[i]!.length), title.length),
  );
  const line = (row: Row) =>
    row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join('  ');
  return [bold(line(header)), ...rows.map(line)];
}

export function planText(plan: Plan, { colour, wide }: TextOptions): string {
  const style = (format: 'bold' | 'yellow') => (text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const bold = style('bold');
  const { made, changes = [], unread = [] } = plan;
  const sections = [
    plan.ends.length === 0 ? [] : endsTable(plan.ends, made, { bold, wide }),
    changes.length === 0
      ? []
      : table(
          ['CHANGES', 'AT', 'OBJECT', 'WHY'],
          changes.map((one) => changeRow(one, made)),
          bold,
        ),
    plan.held.length === 0
      ? []
      : table(
          ['HELD', 'RULE', 'WHY'],
          plan.held.map((one) => heldRow(one, made)),
          bold,
        ),
    unread.map((what) => style('yellow')(`could not be read: ${plain(what)}`)),
    summary(plan),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

interface Manner {
  readonly bold: (text: string) => string;
  readonly wide: boolean;
}

function endsTable(ends: readonly PlannedEnd[], now: Instant, { bold, wide }: Manner): string[] {
  const rows = ends.map(
    (end): Row => [
      relativeTime(end.at, now),
      formatTime(end.at),
      objectText(end.object),
      plain(end.rule),
      takesText(end),
      plain(end.because),
    ],
  );
  const [header, ...lines] = table(['ENDS', 'AT', 'OBJECT', 'RULE', 'TAKES', 'WHY'], rows, bold);
  return wide
    ? [header!, ...lines.flatMap((line, i) => [line, ...takenLines(ends[i]!)])]
    : [header!, ...lines];
}

const takesText = ({ takes, takesMore }: PlannedEnd): string => {
  const count = takes.length + takesMore;
  return count === 0 ? '-' : String(count);
};

const takenLines = ({ takes, takesMore }: PlannedEnd): string[] => [
  ...takes.map(({ object, depth }: Taken) => `${'  '.repeat(depth)}└ ${objectText(object)}`),
  ...(takesMore === 0 ? [] : [`  └ and ${takesMore} more`]),
];

const changeRow = ({ at, object, because }: Change, now: Instant): Row => [
  relativeTime(at, now),
  formatTime(at),
  objectText(object),
  plain(because),
];

const heldRow = ({ object, rule, because, until }: Held, now: Instant): Row => [
  objectText(object),
  plain(rule),
  `${plain(because)}${until === undefined ? '' : ` (${relativeTime(until, now)})`}`,
];

function summary({ cluster, made, until, ends, held, more }: Plan): string[] {
  const taken = ends.reduce((sum, end) => sum + end.takes.length + end.takesMore, 0);
  const overdue = ends.filter(({ at }) => at <= made).length;
  const parts = [
    `${counted(ends.length, 'object ends', 'objects end')} by ${formatTime(until)}`,
    ...(overdue === 0 ? [] : [`${overdue} of them overdue`]),
    ...(taken === 0 ? [] : [`${counted(taken, 'more goes', 'more go')} with them`]),
    ...(held.length === 0 ? [] : [`${held.length} held`]),
    ...(more === 0 ? [] : [`${counted(more, 'ends', 'end')} later`]),
  ];
  return [`${plain(cluster)}: ${parts.join(', ')}.`];
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
