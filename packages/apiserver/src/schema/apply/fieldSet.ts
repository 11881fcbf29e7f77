// A set of paths in an object, as a tree. A path may be a member (`.` in managedFields) and have members below it.
// Sets are immutable.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { compareElements, normalElement, type PathElement, printElement } from './pathElement.ts';

interface Branch {
  readonly member: boolean;
  readonly below: FieldSet;
}

type Combine = (mine: Branch | undefined, theirs: Branch | undefined) => Branch | undefined;

export class FieldSet {
  static readonly EMPTY = new FieldSet(new Map());
  readonly #branches: ReadonlyMap<PathElement, Branch>;

  private constructor(branches: ReadonlyMap<PathElement, Branch>) {
    this.#branches = branches;
  }

  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.insert(path);
    return builder.build();
  }

  /** For builders: drops branches without members. */
  static fromBranches(branches: Iterable<[PathElement, Branch]>): FieldSet {
    const kept = [...branches].filter(([, { member, below }]) => member || !below.isEmpty);
    return kept.length === 0 ? FieldSet.EMPTY : new FieldSet(new Map(kept));
  }

  get isEmpty(): boolean {
    return this.#branches.size === 0;
  }

  has(path: readonly PathElement[]): boolean {
    const branch = this.#branches.get(path[0]!);
    if (branch === undefined) return false;
    return path.length === 1 ? branch.member : branch.below.has(path.slice(1));
  }

  hasMember(element: PathElement): boolean {
    return this.#branches.get(element)?.member ?? false;
  }

  /** The set below a step. */
  below(element: PathElement): FieldSet {
    return this.#branches.get(element)?.below ?? FieldSet.EMPTY;
  }

  union(other: FieldSet): FieldSet {
    if (other.isEmpty || this === other) return this;
    if (this.isEmpty) return other;
    return this.#changed(other, (a, b) => {
      if (a === undefined) return b;
      const member = a.member || b.member;
      const below = a.below.union(b.below);
      return member === a.member && below === a.below ? a : { member, below };
    });
  }

  intersection(other: FieldSet): FieldSet {
    if (this.isEmpty || other.isEmpty) return FieldSet.EMPTY;
    return this.#combined(other, (a, b) => {
      if (a === undefined || b === undefined) return undefined;
      return { member: a.member && b.member, below: a.below.intersection(b.below) };
    });
  }

  /** Without the members of the other set; keeps the members below them. */
  difference(other: FieldSet): FieldSet {
    if (this.isEmpty || other.isEmpty) return this;
    return this.#changed(other, (a, b) => {
      if (a === undefined) return undefined;
      const member = a.member && !b.member;
      const below = a.below.difference(b.below);
      return member === a.member && below === a.below ? a : { member, below };
    });
  }

  /** Without the members of the other set and everything below them. */
  without(other: FieldSet): FieldSet {
    if (this.isEmpty || other.isEmpty) return this;
    return this.#changed(other, (a, b) => {
      if (a === undefined || b.member) return undefined;
      const below = a.below.without(b.below);
      return below === a.below ? a : { member: a.member, below };
    });
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.#branches.size !== other.#branches.size) return false;
    return [...this.#branches].every(([element, { member, below }]) => {
      const theirs = other.#branches.get(element);
      return theirs !== undefined && theirs.member === member && below.equals(theirs.below);
    });
  }

  /** Maps every branch; `change` gets the step and the branch. */
  mapBranches(change: (element: PathElement, branch: Branch) => Branch): FieldSet {
    return FieldSet.fromBranches([...this.#branches].map(([e, b]) => [e, change(e, b)]));
  }

  /** Members of a level come before the members of its branches. */
  paths(): string[] {
    const sorted = [...this.#branches].sort(([a], [b]) => compareElements(a, b));
    return [
      ...sorted.filter(([, { member }]) => member).map(([element]) => printElement(element)),
      ...sorted.flatMap(([element, { below }]) => below.paths().map((path) => printElement(element) + path)),
    ];
  }

  /** In the format of managedFields. */
  toJson(): JsonObject {
    const out: JsonObject = {};
    for (const [element, { member, below }] of [...this.#branches].sort(([a], [b]) => compareElements(a, b)))
      out[element] = below.isEmpty ? {} : member ? { '.': {}, ...below.toJson() } : below.toJson();
    return out;
  }

  /** Applies a change for every branch of the other set; returns this set when nothing changed. */
  #changed(
    other: FieldSet,
    change: (mine: Branch | undefined, theirs: Branch) => Branch | undefined,
  ): FieldSet {
    let branches: Map<PathElement, Branch> | undefined;
    for (const [element, theirs] of other.#branches) {
      const mine = this.#branches.get(element);
      const next = change(mine, theirs);
      if (next === mine) continue;
      branches ??= new Map(this.#branches);
      if (next === undefined || (!next.member && next.below.isEmpty)) branches.delete(element);
      else branches.set(element, next);
    }
    if (branches === undefined) return this;
    return branches.size === 0 ? FieldSet.EMPTY : new FieldSet(branches);
  }

  #combined(other: FieldSet, combine: Combine): FieldSet {
    const elements = new Set([...this.#branches.keys(), ...other.#branches.keys()]);
    const branches: [PathElement, Branch][] = [];
    for (const element of elements) {
      const branch = combine(this.#branches.get(element), other.#branches.get(element));
      if (branch !== undefined) branches.push([element, branch]);
    }
    return FieldSet.fromBranches(branches);
  }
}

/** Builds a set path by path. */
export class FieldSetBuilder {
  readonly #branches = new Map<PathElement, { member: boolean; below: FieldSetBuilder | undefined }>();

  insert(path: readonly PathElement[], from = 0): void {
    const element = path[from];
    if (element === undefined) return;
    let branch = this.#branches.get(element);
    if (branch === undefined) {
      branch = { member: false, below: undefined };
      this.#branches.set(element, branch);
    }
    if (from === path.length - 1) branch.member = true;
    else {
      branch.below ??= new FieldSetBuilder();
      branch.below.insert(path, from + 1);
    }
  }

  build(): FieldSet {
    return FieldSet.fromBranches(
      [...this.#branches].map(([element, { member, below }]) => [
        element,
        { member, below: below?.build() ?? FieldSet.EMPTY },
      ]),
    );
  }
}

/** Parses the format of managedFields; undefined when it is invalid. */
export function parseFieldSet(json: Json | undefined): FieldSet | undefined {
  if (!isObject(json)) return undefined;
  const branches: [PathElement, Branch][] = [];
  for (const [text, content] of Object.entries(json)) {
    if (text === '.') continue;
    const element = normalElement(text);
    const below = parseFieldSet(content);
    if (element === undefined || below === undefined) return undefined;
    branches.push([element, { member: below.isEmpty || Object.hasOwn(content as JsonObject, '.'), below }]);
  }
  return FieldSet.fromBranches(branches);
}
