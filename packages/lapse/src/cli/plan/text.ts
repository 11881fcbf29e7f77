// A plan as text: deletions in the order of time, held objects with the reason, and a summary at the deletion.

import { styleText } from 'node:util';
import { formatTime, type Instant } from '@lapse/base/instant';
import {
  type Change,
  type Dependent,
  type Held,
  hasDeadline,
  type ObjectName,
  type Plan,
  type PlannedDeletion,
} from '#forecast/plan';
import { type Naming, plainNaming } from '#forecast/resolveKind';
import { wrapped } from '../help.ts';
import { type Row, type Style, type Table, type TableOptions, table } from '../table.ts';
import { relativeTime } from '../times.ts';

export interface TextOptions {
  readonly colour: boolean;
  /** Also list the dependents. */
  readonly wide: boolean;
  /** Width of the terminal. Undefined: lines are not wrapped. */
  readonly columns?: number | undefined;
  /** How objects are named in this cluster. */
  readonly naming?: Naming;
}

/** Names come from a cluster and must not control the terminal. */
const STEERING = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const plain = (text: string): string => text.replace(STEERING, '\ufffd');

type Named = (object: ObjectName) => string;

const namedBy =
  (naming: Naming): Named =>
  (object) =>
    plain(`${naming(object)}${object.namespace === undefined ? '' : ` -n ${object.namespace}`}`);

export const planText = (plan: Plan, options: TextOptions): string => [...planPieces(plan, options)].join('');

/** The text in pieces, so that it is never in memory as a whole. */
export function* planPieces(plan: Plan, options: TextOptions): Generator<string> {
  const { colour, wide, columns, naming = plainNaming } = options;
  const named = namedBy(naming);
  const style =
    (format: 'bold' | 'yellow'): Style =>
    (text) =>
      colour ? styleText(format, text, { validateStream: false }) : text;
  const tableOptions = { bold: style('bold'), columns };
  const { made, deletions, held, changes = [], unread = [] } = plan;
  if (deletions.length > 0) {
    yield* lines(deletionsTable(deletions, { now: made, named }, { ...tableOptions, wide }));
    yield '\n';
  }
  if (changes.length > 0) {
    yield* lines(table(changes, changesTable({ now: made, named }), tableOptions));
    yield '\n';
  }
  if (held.length > 0) {
    yield* lines(table(held, heldTable({ now: made, named }), tableOptions));
    yield '\n';
  }
  if (unread.length > 0) {
    yield* lines(unread.map((what) => style('yellow')(`could not be read: ${plain(what)}`)));
    yield '\n';
  }
  yield* lines(columns === undefined ? [summary(plan)] : wrapped(summary(plan), columns));
}

function* lines(all: Iterable<string>): Generator<string> {
  for (const one of all) yield `${one}\n`;
}

/** Arguments that every row needs. */
interface RowContext {
  readonly now: Instant;
  readonly named: Named;
}

function* deletionsTable(
  deletions: readonly PlannedDeletion[],
  rowContext: RowContext,
  { wide, ...options }: TableOptions & { readonly wide: boolean },
): Generator<string> {
  const what: Table<PlannedDeletion> = {
    header: ['ENDS', 'AT', 'OBJECT', 'RULE', 'DEPENDENTS', 'WHY'],
    rowOf: (deletion) => deletionRow(deletion, rowContext),
    first: 3,
    beneath: ([, , , rule, dependents, why]) =>
      `${ruled(rule, why)}${dependents === '-' ? '' : `; dependents: ${dependents}`}`,
  };
  let at = -1;
  for (const line of table(deletions, what, options)) {
    yield line;
    if (wide && at >= 0) yield* dependentLines(deletions[at]!, rowContext.named);
    at++;
  }
}

/** A reason may start with its rule. */
const ruled = (rule = '', why = ''): string => (why.startsWith(`${rule}: `) ? why : `${rule}: ${why}`);

const changesTable = (rowContext: RowContext): Table<Change> => ({
  header: ['CHANGES', 'AT', 'OBJECT', 'WHY'],
  rowOf: (one) => changeRow(one, rowContext),
  first: 3,
  beneath: ([, , , why = '']) => why,
});

const heldTable = (rowContext: RowContext): Table<Held> => ({
  header: ['HELD', 'RULE', 'WHY'],
  rowOf: (one) => heldRow(one, rowContext),
  first: 1,
  beneath: ([, rule, why]) => ruled(rule, why),
});

const deletionRow = (deletion: PlannedDeletion, { now, named }: RowContext): Row => [
  relativeTime(deletion.at, now),
  formatTime(deletion.at),
  named(deletion.object),
  plain(deletion.rule),
  dependentsText(deletion),
  `${deletion.uncertain === true ? 'uncertain: ' : ''}${plain(deletion.because)}`,
];

/** `3`, or `1 to 3` if two of them depend on the order of events. */
function dependentsText({ dependents, moreDependents }: PlannedDeletion): string {
  const most = dependents.length + moreDependents;
  if (most === 0) return '-';
  const chance = dependents.filter(({ uncertain }) => uncertain === true).length;
  return chance === 0 ? String(most) : `${most - chance} to ${most}`;
}

const dependentLines = ({ dependents, moreDependents }: PlannedDeletion, named: Named): string[] => [
  ...dependents.map(
    ({ object, depth, uncertain }: Dependent) =>
      `${'  '.repeat(depth)}└ ${named(object)}${uncertain === true ? ' (uncertain)' : ''}`,
  ),
  ...(moreDependents === 0 ? [] : [`  └ and ${moreDependents} more`]),
];

const changeRow = ({ at, object, because }: Change, { now, named }: RowContext): Row => [
  relativeTime(at, now),
  formatTime(at),
  named(object),
  plain(because),
];

const heldRow = ({ object, rule, because, reason, until }: Held, { now, named }: RowContext): Row => [
  named(object),
  plain(rule),
  `${plain(because)}${until === undefined ? '' : ` (${thenText(reason, until, now)})`}`,
];

/** What the time of a held object refers to. */
function thenText(reason: Held['reason'], until: Instant, now: Instant): string {
  if (!hasDeadline(reason)) return `next evaluation ${until > now ? relativeTime(until, now) : 'now'}`;
  const when = relativeTime(until, now);
  return when.startsWith('overdue') ? `would be ${when}` : `would be deleted ${when}`;
}

function summary({ cluster, view, made, until, deletions, held, more }: Plan): string {
  const dependents = deletions.reduce(
    (sum, deletion) => sum + deletion.dependents.length + deletion.moreDependents,
    0,
  );
  const overdue = deletions.filter(({ at }) => at <= made).length;
  const parts = [
    `${counted(deletions.length, 'deletion', 'deletions')} until ${formatTime(until)}`,
    ...(overdue === 0 ? [] : [`${overdue} of them overdue`]),
    ...(dependents === 0 ? [] : [counted(dependents, 'dependent', 'dependents')]),
    ...(held.length === 0 ? [] : [`${held.length} held`]),
    ...(more === 0 ? [] : [`${more} later`]),
  ];
  return `${plain(cluster)}${viewText(view)}: ${parts.join(', ')}.`;
}

const viewText = (view: Plan['view']): string =>
  view === undefined ? '' : `, namespace ${view.namespace}${view.exists ? '' : ' (which does not exist)'}`;

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
