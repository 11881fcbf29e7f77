// Converts a plan to the data of the page: every kind, namespace, rule and family named once, most frequent first,
// and a limited part of the cascade.

import type { Change, Dependent, Held, ObjectName, Plan, PlannedDeletion } from '#forecast/plan';
import type { DependentRow, PageData, Row } from './browser/data.ts';
import { plainText } from './escape.ts';

/**
 * Named dependents per deletion and in total. The rest is counted. Ten thousand deletions with thousands of
 * dependents must still load.
 */
const NAMED_PER_END = 50;
const NAMED_IN_ALL = 50_000;

export function pageData(plan: Plan): PageData {
  const label = labelsOf(plan);
  const marked = new Set([...rowsOf(plan)].map(label));
  const kinds = indexedNames([...objectsOf(plan)].map(label), { isFirst: (kind) => marked.has(kind) });
  const namespaces = indexedNames(
    [...objectsOf(plan)].map(({ namespace }) => namespace ?? ''),
    { always: [''] },
  );
  const all = [...plan.deletions, ...plan.held, ...(plan.changes ?? [])];
  const rules = indexedNames(all.map(({ rule }) => rule));
  const families = indexedNames(all.map(({ family }) => family));
  let named = 0;

  const rowOf = ({ object, rule, family, because }: Change | Held) => ({
    kind: kinds.at(label(object)),
    namespace: namespaces.at(object.namespace ?? ''),
    rule: rules.at(rule),
    family: families.at(family),
    name: plainText(object.name, 300),
    apiVersion: plainText(object.apiVersion, 300),
    because: plainText(because),
  });
  const dependentRow = ({ object, depth, uncertain }: Dependent): DependentRow => [
    kinds.at(label(object)),
    namespaces.at(object.namespace ?? ''),
    `${plainText(object.name, 300)}${uncertain === true ? ' (uncertain)' : ''}`,
    depth,
  ];
  const deletionOf = (deletion: PlannedDeletion): Row => {
    const room = Math.min(NAMED_PER_END, NAMED_IN_ALL - named);
    const dependents = deletion.dependents.slice(0, room).map(dependentRow);
    named += dependents.length;
    const moreDependents = deletion.dependents.length - dependents.length + deletion.moreDependents;
    return {
      at: timeOf(deletion.at),
      ...rowOf(deletion),
      ...(deletion.uncertain === true ? { because: `uncertain: ${plainText(deletion.because)}` } : {}),
      propagation: deletion.propagation,
      ...(dependents.length > 0 ? { dependents } : {}),
      ...(moreDependents > 0 ? { moreDependents } : {}),
    };
  };
  const heldOf = (held: Held): Row => ({ at: timeOf(held.until), held: true, ...rowOf(held) });
  const changeOf = (change: Change): Row => ({ at: timeOf(change.at), changes: true, ...rowOf(change) });
  const rows = [
    ...plan.deletions.map(deletionOf),
    ...(plan.changes ?? []).map(changeOf),
    ...plan.held.map(heldOf),
  ];
  return {
    cluster: plainText(plan.cluster, 300),
    made: plan.made,
    until: plan.until,
    more: plan.more,
    kinds: kinds.names,
    namespaces: namespaces.names.map((name) => name || '(cluster)'),
    rules: rules.names,
    families: families.names,
    rows,
    unread: (plan.unread ?? []).map((what) => plainText(what)),
  };
}

const timeOf = (at: number | undefined): number | null =>
  at !== undefined && Number.isFinite(at) ? at : null;

/** The name of a kind, with its group if two groups have a kind of that name. */
function labelsOf(plan: Plan): (object: ObjectName) => string {
  const groups = new Map<string, Set<string>>();
  for (const { apiVersion, kind } of objectsOf(plan)) {
    const known = groups.get(kind) ?? new Set();
    groups.set(kind, known.add(groupOf(apiVersion)));
  }
  return ({ apiVersion, kind }) =>
    (groups.get(kind)?.size ?? 0) > 1 ? `${kind} (${groupOf(apiVersion) || 'core'})` : kind;
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.split('/')[0]! : '');

/** Objects with a separate mark. */
function* rowsOf({ deletions, held, changes = [] }: Plan): Generator<ObjectName> {
  for (const { object } of deletions) yield object;
  for (const { object } of held) yield object;
  for (const { object } of changes) yield object;
}

function* objectsOf(plan: Plan): Generator<ObjectName> {
  yield* rowsOf(plan);
  for (const { dependents } of plan.deletions) for (const { object } of dependents) yield object;
}

interface Index {
  readonly names: readonly string[];
  at(name: string): number;
}

interface Order {
  /** Always first, even if they do not occur. */
  readonly always?: readonly string[];
  /** Sorted before all others. */
  readonly isFirst?: (name: string) => boolean;
}

/** Most frequent first, so that these get the colours. Names without a mark need none. */
function indexedNames(all: readonly string[], { always = [], isFirst = () => true }: Order = {}): Index {
  const counts = new Map<string, number>();
  for (const name of all) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const name of always) counts.delete(name);
  const sorted = [...counts]
    .sort(
      ([a, most], [b, more]) => Number(isFirst(b)) - Number(isFirst(a)) || more - most || (a < b ? -1 : 1),
    )
    .map(([name]) => name);
  const names = [...always, ...sorted];
  const places = new Map(names.map((name, index) => [name, index]));
  return { names: names.map((name) => plainText(name, 300)), at: (name) => places.get(name)! };
}
