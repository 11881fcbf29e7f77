// A plan as a structured document: the same shape as in memory, with times as RFC 3339.

import type { Change, Held, Plan, PlannedDeletion } from '#forecast/plan';
import { timeText } from '../times.ts';
import { yamlText } from '../yaml.ts';

const changeOf = ({ at, ...rest }: Change | PlannedDeletion) => ({ at: timeText(at), ...rest });
const heldOf = ({ until, ...rest }: Held) => ({
  ...rest,
  ...(until === undefined ? {} : { until: timeText(until) }),
});

const planDocument = ({
  made,
  until,
  deletions,
  held,
  changes = [],
  unread = [],
  ...rest
}: Plan): Record<string, unknown> => ({
  made: timeText(made),
  until: timeText(until),
  ...rest,
  deletions: deletions.map(changeOf),
  held: held.map(heldOf),
  changes: changes.map(changeOf),
  unread,
});

export const planJson = (plan: Plan): string => [...jsonPieces(plan)].join('');

/** The output of JSON.stringify with an indent of two, in pieces, so that it is never in memory as a whole. */
export function* jsonPieces(plan: Plan): Generator<string> {
  const { deletions, held, changes = [], ...rest } = plan;
  const lists: Readonly<Record<string, Generator<object>>> = {
    deletions: mapped(deletions, changeOf),
    held: mapped(held, heldOf),
    changes: mapped(changes, changeOf),
  };
  let before = '{';
  for (const [name, value] of Object.entries(planDocument({ ...rest, deletions: [], held: [] }))) {
    yield `${before}\n  ${JSON.stringify(name)}: `;
    before = ',';
    const list = lists[name];
    if (list === undefined) yield indented(value, 2);
    else yield* listPieces(list);
  }
  yield '\n}\n';
}

function* mapped<T>(all: readonly T[], map: (one: T) => object): Generator<object> {
  for (const one of all) yield map(one);
}

function* listPieces(items: Iterable<object>): Generator<string> {
  let isFirst = true;
  for (const item of items) {
    yield `${isFirst ? '[' : ','}\n    ${indented(item, 4)}`;
    isFirst = false;
  }
  yield isFirst ? '[]' : '\n  ]';
}

const indented = (value: unknown, by: number): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(by)}`);

export const planYaml = (plan: Plan): string => yamlText(planDocument(plan));
