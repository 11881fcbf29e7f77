// Field management of one object: updates metadata.managedFields on create, update and patch, and merges the object
// for server-side apply.

import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { capUpdaters } from './capUpdaters.ts';
import { checkFields, describeProblems } from './checkFields.ts';
import { FieldSet } from './fieldSet.ts';
import { allowedConflicts, hasLastApplied, withLastApplied } from './lastApplied.ts';
import {
  decodeManagedFields,
  encodeManagedFields,
  identityOf,
  isReset,
  type Managed,
  type Manager,
  NO_MANAGERS,
} from './managedFields.ts';
import { applyConfig, type FieldScope, type Managers, updateManagers } from './managers.ts';
import { memoizePair } from './memoizePair.ts';
import { fieldElement } from './pathElement.ts';

export interface Endpoint extends FieldScope {
  readonly apiVersion: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** An empty object of this kind. Never modified. */
  readonly empty: JsonObject;
}

export interface Write {
  /** Absent when the object is new. */
  readonly live?: JsonObject;
  readonly manager: string;
  /** RFC 3339. */
  readonly now: string;
}

/** The configuration does not match the types of its kind. */
export class ApplyError extends Error {}

/** Another manager owns fields that the configuration changes. */
export class ApplyConflict extends Error {
  readonly conflicts: readonly { readonly manager: Manager; readonly paths: readonly string[] }[];

  constructor(conflicts: ApplyConflict['conflicts']) {
    super('conflict');
    this.conflicts = conflicts;
  }
}

// Fields that identify the object or belong to the server have no owner.
const meta = (name: string) => [fieldElement('metadata'), fieldElement(name)];
const STRIPPED = FieldSet.of(
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  ...['name', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation'].map(meta),
  ...['managedFields', 'resourceVersion', 'namespace'].map(meta),
);
const FIRST_APPLY = 'before-first-apply';

/** The managedFields of `next`, which replaces `live`. */
export function trackUpdate(endpoint: Endpoint, write: Write, next: JsonObject): JsonObject[] | undefined {
  const managed = liveOrNew(endpoint, write.live, next);
  // An update does not start tracking an existing object; only new objects are tracked.
  if (managed.fields.size === 0 && write.live !== undefined) return undefined;
  return encodeManagedFields(capUpdaters(updated(endpoint, write, managed, next)));
}

function liveOrNew({ subresource }: Endpoint, live: JsonObject | undefined, next: JsonObject): Managed {
  const before = () => decodeManagedFields(entriesOf(live)) ?? NO_MANAGERS;
  if (subresource !== '') return before();
  const sent = entriesOf(next);
  if (isReset(sent)) return NO_MANAGERS;
  const managed = decodeManagedFields(sent);
  return managed === undefined || managed.fields.size === 0 ? before() : managed;
}

const entriesOf = (object: JsonObject | undefined): Json | undefined =>
  isObject(object?.['metadata']) ? object['metadata']['managedFields'] : undefined;

function updated(endpoint: Endpoint, write: Write, managed: Managed, next: JsonObject): Managed {
  const { apiVersion, subresource, empty } = endpoint;
  const manager: Manager = { manager: write.manager, operation: 'Update', apiVersion, subresource };
  const id = identityOf(manager);
  const values = { live: untracked(write.live ?? empty), next: untracked(next) };
  // The fields of this write are computed apart from those that the manager already had: the time changes only with
  // them.
  const fields = new Map(updateManagers(endpoint, values, managed.fields, CURRENT));
  const taken = stripped(fields.get(CURRENT) ?? FieldSet.EMPTY);
  fields.delete(CURRENT);
  if (taken.isEmpty) return { ...managed, fields };
  fields.set(id, joined(taken, fields.get(id) ?? FieldSet.EMPTY));
  return {
    fields,
    managers: new Map(managed.managers).set(id, manager),
    times: new Map(managed.times).set(id, write.now),
  };
}

const CURRENT = 'current-operation';

const difference = memoizePair((set: FieldSet, other: FieldSet) => set.difference(other));
const joined = memoizePair((set: FieldSet, other: FieldSet) => set.union(other));
const stripped = (set: FieldSet): FieldSet => difference(set, STRIPPED);

/** The object without managedFields, which have no owner. */
function untracked(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata) || metadata['managedFields'] === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

export interface Apply extends Write {
  readonly config: JsonObject;
  readonly force: boolean;
}

/** The object after the apply, with managedFields; a fresh copy. */
export function applyObject(endpoint: Endpoint, apply: Apply): JsonObject {
  const { config, live } = apply;
  const problems = checkFields(endpoint.type, config);
  if (problems.length > 0) throw new ApplyError(describeProblems(problems));
  let managed = decodeManagedFields(entriesOf(live)) ?? NO_MANAGERS;
  if (managed.fields.size === 0 && live !== undefined)
    managed = updated(endpoint, { manager: FIRST_APPLY, now: apply.now }, NO_MANAGERS, live);
  const result = applied(endpoint, apply, managed);
  const object = clone(result.object);
  if (apply.manager === 'kubectl' && hasLastApplied(object)) withLastApplied(object, config);
  const entries = encodeManagedFields(result.managed);
  if (!isObject(object['metadata'])) object['metadata'] = {};
  if (entries !== undefined) object['metadata']['managedFields'] = entries;
  return object;
}

function applied(
  endpoint: Endpoint,
  apply: Apply,
  managed: Managed,
): { object: JsonObject; managed: Managed } {
  const { apiVersion, subresource } = endpoint;
  const manager: Manager = { manager: apply.manager, operation: 'Apply', apiVersion, subresource };
  const id = identityOf(manager);
  const live = untracked(apply.live ?? endpoint.empty);
  const application = { live, config: apply.config, manager: id, force: apply.force };
  let result = applyConfig(endpoint, application, managed.fields);
  if (result.kind === 'conflicts') {
    const rest = remainingConflicts(endpoint, apply, live, result.conflicts);
    if (rest.size > 0) throw conflictOf(managed, rest);
    result = applyConfig(endpoint, { ...application, force: true }, managed.fields);
    if (result.kind === 'conflicts') throw conflictOf(managed, result.conflicts);
  }
  const fields = stripManager(result.managers, id);
  const times = new Map(managed.times);
  if (result.changed) times.set(id, apply.now);
  const managers = new Map(managed.managers).set(id, manager);
  return { object: result.value as JsonObject, managed: { fields, managers, times } };
}

function stripManager(managers: Managers, id: string): Managers {
  const out = new Map(managers);
  const set = stripped(out.get(id) ?? FieldSet.EMPTY);
  if (set.isEmpty) out.delete(id);
  else out.set(id, set);
  return out;
}

/** kubectl takes over the fields of its earlier client-side apply. */
function remainingConflicts(
  { type, apiVersion }: Endpoint,
  { manager }: Apply,
  live: JsonObject,
  conflicts: ReadonlyMap<string, FieldSet>,
): ReadonlyMap<string, FieldSet> {
  const allowed = manager === 'kubectl' ? allowedConflicts(type, apiVersion, live) : undefined;
  if (allowed === undefined) return conflicts;
  return new Map(
    [...conflicts]
      .map(([id, set]) => [id, set.difference(allowed)] as const)
      .filter(([, set]) => !set.isEmpty),
  );
}

const conflictOf = (managed: Managed, conflicts: ReadonlyMap<string, FieldSet>): ApplyConflict =>
  new ApplyConflict(
    [...conflicts].map(([id, set]) => ({ manager: managed.managers.get(id)!, paths: set.paths() })),
  );
