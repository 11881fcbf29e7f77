// Field ownership of one object. `update` records the fields that a manager changed; `apply` merges a configuration
// into the object. Both take fields from other managers; an apply without force reports a conflict instead.

import { equal, type Json } from '@lapse/kube/api/json';
import { type Comparison, compareFields } from './compareFields.ts';
import { FieldSet } from './fieldSet.ts';
import { entryType, type FieldType } from './fieldType.ts';
import { memoizePair } from './memoizePair.ts';
import { mergeFields } from './mergeFields.ts';
import { ownedFields } from './ownedFields.ts';
import { removeFields } from './removeFields.ts';

/** Managers by identity (managedFields.ts), each with its fields. */
export type Managers = ReadonlyMap<string, FieldSet>;

export interface FieldScope {
  readonly type: FieldType;
  /** Fields that cannot be owned through this endpoint. */
  readonly ignored: FieldSet;
}

export type Applied =
  | { readonly kind: 'applied'; readonly value: Json; readonly managers: Managers; readonly changed: boolean }
  | { readonly kind: 'conflicts'; readonly conflicts: ReadonlyMap<string, FieldSet> };

/** The managers after a write other than apply. */
export function updateManagers(
  scope: FieldScope,
  values: { readonly live: Json; readonly next: Json },
  managers: Managers,
  manager: string,
): Managers {
  const comparison = compareFields(scope.type, values.live, values.next);
  const out = new Map(removeLostFields(scope, managers, manager, comparison).managers);
  const before = out.get(manager) ?? FieldSet.EMPTY;
  const owned = without(takenBy(before, comparison), scope.ignored);
  if (owned.isEmpty) out.delete(manager);
  else out.set(manager, owned);
  return out;
}

const takenBy = memoizePair((before: FieldSet, { added, modified, removed }: Comparison) =>
  before.difference(removed).union(modified).union(added),
);

const without = memoizePair((set: FieldSet, ignored: FieldSet) => set.without(ignored));

export interface Application {
  readonly live: Json;
  readonly config: Json;
  readonly manager: string;
  readonly force: boolean;
}

export function applyConfig(scope: FieldScope, application: Application, managers: Managers): Applied {
  const { live, config, manager, force } = application;
  const { type } = scope;
  const owned = ownedFields(type, config).without(scope.ignored);
  const before = managers.get(manager);
  const all = new Map(managers);
  all.set(manager, owned);
  const merged = mergeFields(type, live, config) ?? {};
  const value = prune(type, merged, all, before);
  const comparison = compareFields(type, live, value);
  const yielded = removeLostFields(scope, all, manager, comparison);
  if (!force && yielded.conflicts.size > 0) return { kind: 'conflicts', conflicts: yielded.conflicts };
  const out = new Map(yielded.managers);
  if (owned.isEmpty) out.delete(manager);
  return { kind: 'applied', value, managers: out, changed: !equal(live, value) };
}

/** All managers except `manager` lose changed fields, and all lose removed fields. */
function removeLostFields(
  { ignored }: FieldScope,
  managers: Managers,
  manager: string,
  comparison: Comparison,
): { managers: Managers; conflicts: Map<string, FieldSet> } {
  const effect = effectOf(comparison, ignored);
  const out = new Map<string, FieldSet>();
  const conflicts = new Map<string, FieldSet>();
  for (const [name, set] of managers) {
    if (name === manager) {
      out.set(name, set);
      continue;
    }
    const { taken, left } = yieldTo(set, effect);
    if (!taken.isEmpty) conflicts.set(name, taken);
    if (!left.isEmpty) out.set(name, left);
  }
  return { managers: out, conflicts };
}

interface Effect {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

const effectOf = memoizePair(
  ({ added, modified, removed }: Comparison, ignored: FieldSet): Effect => ({
    changed: modified.union(added).without(ignored),
    removed: removed.without(ignored),
  }),
);

const yieldTo = memoizePair((set: FieldSet, { changed, removed }: Effect) => {
  const taken = set.intersection(changed);
  return { taken, left: set.difference(taken).difference(removed) };
});

/** Removes fields that the manager applied before and no longer applies, except when another manager owns them. */
function prune(type: FieldType, merged: Json, managers: Managers, before: FieldSet | undefined): Json {
  if (before === undefined || before.isEmpty) return merged;
  const last = withNamedFields(type, before);
  const pruned = removeFields(type, merged, last);
  const kept = addBackOwned(type, merged, pruned, managers);
  return addBackDangling(type, merged, kept, last);
}

function addBackOwned(type: FieldType, merged: Json, pruned: Json, managers: Managers): Json {
  let managed = FieldSet.EMPTY;
  for (const set of managers.values()) managed = managed.union(set);
  return removeFields(type, merged, lost(type, merged, pruned).difference(withNamedFields(type, managed)));
}

const addBackDangling = (type: FieldType, merged: Json, pruned: Json, last: FieldSet): Json =>
  removeFields(type, merged, lost(type, merged, pruned).intersection(last));

/** Fields of `merged` that `pruned` does not have. */
function lost(type: FieldType, merged: Json, pruned: Json): FieldSet {
  const all = withNamedFields(type, ownedFields(type, merged));
  return all.difference(withNamedFields(type, ownedFields(type, pruned)));
}

/** Adds the declared fields on the paths to members. */
function withNamedFields(type: FieldType, set: FieldSet): FieldSet {
  return set.mapBranches((element, { member, below }) => {
    const name = element.startsWith('f:') ? element.slice(2) : undefined;
    const next = name === undefined ? type.list?.element() : type.map && entryType(type.map, name);
    const named = name !== undefined && !below.isEmpty && (type.map?.fields.has(name) ?? false);
    return { member: member || named, below: next === undefined ? below : withNamedFields(next, below) };
  });
}
