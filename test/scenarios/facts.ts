// Facts are the fields that a decision reads: an update that changes none of them triggers no reconcile. A controller
// whose facts omit a field of its decision misses changes of that field. Two checks find such omissions:
//   expectFactsCover     every field that `compute` reads, `facts` reads or returns too (recorded by a Proxy)
//   expectFactsDecide    objects that differ in one field that was read, and have equal facts, have the same result

import { clone, equal, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import type { Facts } from '@lapse/runtime/facts';
import { expect } from 'vitest';
import { aroundOf, readsOf, stepsOf } from './reads.ts';

export interface FactsCase<T extends KubeObject> {
  readonly facts: Facts<T>;
  /** The decision, as a function of this object alone. */
  readonly compute: (object: T) => unknown;
  /** One example of each relevant variant. Fields that no example reaches are not checked. */
  readonly objects: readonly T[];
  /** Paths that are read but need not trigger a reconcile, each with its reason. */
  readonly except?: Readonly<Record<string, string>>;
}

/** The identity of the object. It changes only with another key or after a deletion, which triggers a reconcile. */
const IDENTITY = [
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.resourceVersion',
];

/** Fields that `compute` reads and `facts` does not, sorted. Indexes of lists are written `[]`. */
export function missedFacts<T extends KubeObject>(given: FactsCase<T>): string[] {
  const { facts, compute, objects, except = {} } = given;
  const known = new Set([...IDENTITY, ...Object.keys(except)]);
  // Returned facts are compared by value, so everything below them counts as read.
  for (const object of objects)
    for (const path of readsOf(object, (seen) => void JSON.stringify(facts(seen)))) known.add(path);
  const missed = new Set<string>();
  for (const object of objects)
    for (const path of readsOf(object, (seen) => void JSON.stringify(compute(seen) ?? null)))
      if (!isCovered(object, path, known)) missed.add(path);
  return [...missed].filter((path) => ![...missed].some((other) => isBelow(other, path))).sort();
}

const isBelow = (path: string, above: string): boolean =>
  path.startsWith(`${above}.`) || path.startsWith(`${above}[`);

/** A field that is absent in this example is covered if the keys around it are listed, or if it is read elsewhere. */
function isCovered(object: KubeObject, path: string, known: ReadonlySet<string>): boolean {
  if (known.has(path)) return true;
  if (isThere(object, path)) return false;
  return known.has(`${aroundOf(path)}.*`) || [...known].some((other) => isBelow(other, path));
}

function isThere(object: KubeObject, path: string): boolean {
  const steps = stepsOf(path);
  return steps === undefined || valueAt(asJson(object), steps) !== undefined;
}

const valueAt = (value: Json, path: Path): Json | undefined =>
  path.reduce<Json | undefined>(
    (at, step) => (isObject(at) || Array.isArray(at) ? (at as JsonObject)[step] : undefined),
    value,
  );

export function expectFactsCover<T extends KubeObject>(given: FactsCase<T>): void {
  expect(missedFacts(given), 'fields that compute reads and facts miss').toEqual([]);
}

export function expectFactsDecide<T extends KubeObject>({ facts, compute, objects }: FactsCase<T>): void {
  const slept: string[] = [];
  for (const object of objects)
    for (const path of leavesOf(asJson(object)))
      for (const other of variants(object, path, objects)) {
        const same = equal(facts(object) as Json, facts(other) as Json);
        if (same && JSON.stringify(compute(object)) !== JSON.stringify(compute(other)))
          slept.push(path.join('.'));
      }
  expect([...new Set(slept)], 'fields that change the outcome and not the facts').toEqual([]);
}

type Path = readonly (string | number)[];

function leavesOf(value: Json | undefined, at: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => leavesOf(item, [...at, i]));
  if (isObject(value)) return Object.entries(value).flatMap(([name, item]) => leavesOf(item, [...at, name]));
  return IDENTITY.includes(at.join('.')) ? [] : [at];
}

/** The object with this field removed, set to an unusual value, and set to the values of the other examples. */
function* variants<T extends KubeObject>(object: T, path: Path, objects: readonly T[]): Generator<T> {
  const change = (edit: (parent: JsonObject, name: string | number) => void): T => {
    const copy = clone(asJson(object));
    let parent: JsonObject = copy;
    for (const step of path.slice(0, -1)) parent = parent[step] as JsonObject;
    edit(parent, path.at(-1)!);
    return asObject(copy) as T;
  };
  yield change((parent, name) => {
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else delete parent[name];
  });
  const was = valueAt(asJson(object), path);
  const strange: Json =
    typeof was === 'number' ? was + 1 : typeof was === 'boolean' ? !was : `${String(was)}~`;
  yield change((parent, name) => {
    parent[name] = strange;
  });
  for (const other of objects) {
    const value = valueAt(asJson(other), path);
    if (value !== undefined)
      yield change((parent, name) => {
        parent[name] = clone(value);
      });
  }
}
