// Random histories of one object that several managers apply, update and patch, as requests.

import { type Random, seededRandom } from '@lapse/base/random';
import type { Json, JsonObject } from '@lapse/kube/api/json';

export interface Write {
  readonly method: 'PATCH' | 'PUT';
  readonly subresource?: 'status';
  readonly type: string;
  readonly query: string;
  /** A PUT sends the object it has read, with this change. */
  readonly body: JsonObject;
}

export interface Subject {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: string;
  readonly hasStatus: boolean;
  /** A random part of the fields of spec (or data): the fields of one applier. */
  fields(pick: Picker): JsonObject;
}

/** Random choices. */
export class Picker {
  readonly #random: Random;
  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }
  int = (below: number): number => Math.floor(this.#random.next() * below);
  one = <T>(from: readonly T[]): T => from[this.int(from.length)]!;
  chance = (share: number): boolean => this.#random.next() < share;
  /** Some of them, in any order. */
  some = <T>(from: readonly T[]): T[] =>
    [...from].filter(() => this.chance(0.5)).sort(() => this.#random.next() - 0.5);
  /** Includes each entry with its own probability. */
  maybe(entries: Record<string, () => Json>, share = 0.45): JsonObject {
    const out: JsonObject = {};
    for (const [name, make] of Object.entries(entries)) if (this.chance(share)) out[name] = make();
    return out;
  }
}

const MANAGERS = ['alpha', 'beta', 'gamma'];
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';

export function history(subject: Subject, seed: number, length: number): Write[] {
  const pick = new Picker(seed);
  return Array.from({ length }, (_, i) => (i === 0 ? applied(subject, pick) : step(subject, pick)));
}

function step(subject: Subject, pick: Picker): Write {
  const chance = pick.int(10);
  if (chance < 6) return applied(subject, pick);
  if (chance < 8) return merged(subject, pick);
  return replaced(subject, pick);
}

const query = (pick: Picker, prefix = ''): string => `fieldManager=${prefix}${pick.one(MANAGERS)}`;

function applied(subject: Subject, pick: Picker): Write {
  const onStatus = subject.hasStatus && pick.chance(0.15);
  const { apiVersion, kind } = subject;
  const metadata: JsonObject = { name: 'x', ...labels(pick) };
  const body = { apiVersion, kind, metadata, ...(onStatus ? status(pick) : subject.fields(pick)) };
  const force = pick.chance(0.4) ? '&force=true' : '';
  return {
    method: 'PATCH',
    type: APPLY,
    query: query(pick) + force,
    body,
    ...(onStatus ? { subresource: 'status' as const } : {}),
  };
}

const labels = (pick: Picker): JsonObject =>
  pick.maybe(
    {
      labels: () => pick.maybe({ a: () => pick.one(['1', '2']), b: () => '1' }),
      annotations: () => pick.maybe({ note: () => pick.one(['x', 'y']) }),
      finalizers: () => pick.some(['example.com/a', 'example.com/b']),
    },
    0.25,
  );

const status = (pick: Picker): JsonObject => ({
  status: pick.maybe({
    phase: () => pick.one(['New', 'Old']),
    count: () => pick.int(3),
  }),
});

function merged(subject: Subject, pick: Picker): Write {
  const onStatus = subject.hasStatus && pick.chance(0.3);
  const body = onStatus
    ? status(pick)
    : { ...subject.fields(pick), ...(pick.chance(0.3) ? { metadata: { labels: { a: null } } } : {}) };
  return {
    method: 'PATCH',
    type: MERGE,
    query: query(pick, 'm-'),
    body,
    ...(onStatus ? { subresource: 'status' as const } : {}),
  };
}

const replaced = (subject: Subject, pick: Picker): Write => ({
  method: 'PUT',
  type: 'application/json',
  query: query(pick, 'u-'),
  body: subject.fields(pick),
});
