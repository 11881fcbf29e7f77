// Random well-typed objects of built-in kinds with unusual values: each is a valid object with a few changes.
// fuzz.test.ts looks for crashes of the embedded server, fuzz.kube.ts for differences from kube-apiserver.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { BuiltinField } from '#schema/builtinTable';
import { builtinTable } from '../data/tables.ts';

export interface FuzzKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly cluster?: true;
  /** A valid object without metadata. */
  readonly base: JsonObject;
  /** The fields to change; default: `spec`. */
  readonly fields?: readonly string[];
  readonly status?: true;
}

/** One kind per line. */
export const FUZZ_KINDS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/fuzz/kinds.json'), 'utf8'),
) as FuzzKind[];

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly body: JsonObject;
}

/** The request that creates the object for updates; `{ns}` is a new namespace and name. */
export function baseRequest(kind: FuzzKind): FuzzRequest {
  const body = { ...metaOf(kind, kind.cluster ? '{ns}' : 'x'), ...kind.base };
  return { method: 'POST', path: collection(kind), type: JSON_TYPE, body };
}

const JSON_TYPE = 'application/json';

const metaOf = ({ apiVersion, kind }: FuzzKind, name: string) => ({ apiVersion, kind, metadata: { name } });

function collection({ apiVersion, plural, cluster }: FuzzKind): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return cluster ? `${root}/${plural}` : `${root}/namespaces/{ns}/${plural}`;
}

/** A random request with dry run. */
export function fuzzRequest(kind: FuzzKind, fuzzer: Fuzzer): FuzzRequest {
  const mode = fuzzer.pick(kind.status ? ['create', 'update', 'status'] : ['create', 'update']);
  const one = `${collection(kind)}/${kind.cluster ? '{ns}' : 'x'}`;
  if (mode === 'status') {
    const type = 'application/merge-patch+json';
    return { method: 'PATCH', path: `${one}/status?dryRun=All`, type, body: fuzzer.status(kind) };
  }
  const name = mode === 'create' ? 'new-{ns}' : kind.cluster ? '{ns}' : 'x';
  const body = { ...metaOf(kind, name), ...fuzzer.object(kind) };
  return mode === 'create'
    ? { method: 'POST', path: `${collection(kind)}?dryRun=All`, type: JSON_TYPE, body }
    : { method: 'PUT', path: `${one}?dryRun=All`, type: JSON_TYPE, body };
}

/** Field and message of causes that are not compared. */
export const INCOMPARABLE_CAUSES: readonly RegExp[] = [
  // An empty list counts as absent here; kube-apiserver keeps it until the object is stored.
  /resources\.claims: Forbidden: claims may not be set/,
  /ephemeralContainers\[\d+\]\.\w+: Forbidden: cannot be set for an Ephemeral Container/,
  /onExitCodes\.values: Invalid value: (null|\{…\}): at least one value/,
  /spec\.capacity: Unsupported value/,
  /^spec: Invalid value: .* either `defaultBackend` or `rules` must be specified/,
];

/** Requests that are not compared, for the same reason. */
export const INCOMPARABLE_REQUESTS: readonly RegExp[] = [
  /"overhead":\{\}/,
  /"(egress|ingress|matchLabels|matchExpressions)":(\[\]|\{\})/,
  // kube-apiserver panics on these.
  /"completionMode":"Indexed".*"successPolicy"|"successPolicy".*"completionMode":"Indexed"/,
];

export type Chance = () => number;

/** Returns the same numbers for the same seed. */
export function chanceFrom(seed: number): Chance {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const LONG = 'c'.repeat(260);
const TEXTS = [
  '',
  'a',
  'b',
  'A_b',
  'a.b',
  'a/b',
  'ex.com/n',
  '/x',
  '/a/../b',
  '../x',
  'None',
  'Odd',
  ' ',
  'vol',
  LONG,
];
const KEYS = [
  'a',
  'a b',
  'cpu',
  'memory',
  'ex.com/gpu',
  'storage',
  'hugepages-2Mi',
  'key',
  'pods',
  '__proto__',
];

/** Interesting values by field name. */
const BY_NAME: Readonly<Record<string, readonly string[]>> = {
  expression: ['true', 'object.x == 1', 'Odd', 'a/b', '1', ' ', "has(object.spec) && request.name != ''"],
  operator: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Equal', 'Odd'],
  name: ['c', 'd', 'vol', 'a', 'A_b', ''],
  mountPath: ['/x', '/y', '', 'a:b'],
  topologyKey: ['kubernetes.io/hostname', '', 'a b'],
  schedule: ['* * * * *', '', 'x', '@daily', '61 * * * *'],
  fieldPath: ['metadata.name', "metadata.labels['a']", 'status.podIP', 'spec.x', ''],
  cidr: ['10.0.0.0/8', 'x', ''],
  completedIndexes: ['0', '0-1', '1,0', 'x', '9'],
  failedIndexes: ['0', '1', 'x'],
  succeededIndexes: ['0', '0-1', 'x', '3-1'],
  type: ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet', 'x', 'Ready'],
  status: ['True', 'False', 'Unknown', ''],
  resource: ['limits.cpu', 'requests.memory', 'x'],
};

const SCALARS: Readonly<Record<string, readonly Json[]>> = {
  bool: [true, false],
  int32: [0, 1, 2, 5, -1, 80, 30_000, 70_000, 2_147_483_647],
  int64: [0, 1, 5, -1, 3600, 70_000, 9_007_199_254_740_991],
  Time: ['2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z', null],
  MicroTime: ['2024-01-01T00:00:00.000000Z', null],
  Quantity: ['1', '0', '-1', '500m', '1Gi', '100k', '1m'],
  IntOrString: [0, 1, 80, -1, '50%', 'http', '', '101%', 70_000, 'A_b'],
  bytes: ['', 'aGk=', 'e30='],
  Duration: ['1s', '0s'],
  float64: [0, 1.5],
};

const SKIPPED = new Set(['kind', 'apiVersion', 'metadata', 'windowsOptions']);
const DEEPEST = 7;

export class Fuzzer {
  readonly #types = builtinTable().types;
  readonly #kinds = builtinTable().kinds;
  readonly #chance: Chance;

  constructor(seed: number) {
    this.#chance = chanceFrom(seed);
  }

  /** A valid object of the kind with one to three changes, without metadata. */
  object({ apiVersion, kind, base, fields = ['spec'] }: FuzzKind): JsonObject {
    const made = clone(base) as JsonObject;
    this.#changeSome(made, this.#kinds[`${apiVersion}/${kind}`]!, fields);
    return made;
  }

  status({ apiVersion, kind }: FuzzKind): JsonObject {
    const made: JsonObject = { status: {} };
    this.#changeSome(made, this.#kinds[`${apiVersion}/${kind}`]!, ['status']);
    return { status: made['status'] ?? {} };
  }

  /** Makes one change to a valid object. */
  edit(object: JsonObject, { apiVersion, kind }: FuzzKind, fields: readonly string[]): void {
    this.#change(object, this.#kinds[`${apiVersion}/${kind}`]!, 0, fields);
  }

  #changeSome(object: JsonObject, type: string, fields: readonly string[]): void {
    for (let n = this.pick([1, 1, 2, 3]); n > 0; n--) this.#change(object, type, 0, fields);
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#chance() * values.length)]!;
  }

  #fieldsOf(type: string): [string, BuiltinField][] {
    return Object.entries(this.#types[type]!.fields).filter(([name]) => !SKIPPED.has(name));
  }

  /** Half of the changes replace existing values, so that they reach deep fields. */
  #change(object: JsonObject, type: string, depth: number, only?: readonly string[]): void {
    const all = this.#fieldsOf(type);
    const fields = only ? all.filter(([name]) => only.includes(name)) : all;
    if (fields.length === 0) return;
    const present = fields.filter(([name]) => typeof object[name] === 'object' && object[name] !== null);
    const [name, field] = present.length > 0 && this.#chance() < 0.5 ? this.pick(present) : this.pick(fields);
    const value = object[name];
    if (value !== undefined && this.#chance() < 0.08) delete object[name];
    else if (!this.#types[field.t] || field.map) object[name] = this.#value(field, name, depth);
    else if (field.list) object[name] = this.#changedList(value, field.t, depth);
    else if (isObject(value) && this.#chance() < 0.9) this.#change(value, field.t, depth + 1);
    else object[name] = this.#struct(field.t, depth + 1);
  }

  #changedList(value: Json | undefined, type: string, depth: number): Json {
    const items = Array.isArray(value) ? value : [];
    const chosen = items.length > 0 && this.#chance() < 0.7 ? this.pick(items) : undefined;
    if (isObject(chosen)) this.#change(chosen, type, depth + 1);
    else items.push(this.#struct(type, depth + 1));
    return items;
  }

  #struct(type: string, depth: number): JsonObject {
    const made: JsonObject = {};
    const fields = this.#fieldsOf(type);
    for (const [name, field] of fields)
      if (field.req && this.#chance() < 0.85) made[name] = this.#value(field, name, depth);
    if (fields.length === 0 || depth >= DEEPEST) return made;
    for (let n = this.pick([0, 1, 1, 2]); n > 0; n--) {
      const [name, field] = this.pick(fields);
      made[name] = this.#value(field, name, depth);
    }
    return made;
  }

  #value(field: BuiltinField, name: string, depth: number): Json {
    const one = () => (this.#types[field.t] ? this.#struct(field.t, depth + 1) : this.#scalar(field, name));
    const some = () => Array.from({ length: this.pick([0, 1, 1, 2]) }, one);
    if (!field.map) return field.list ? some() : one();
    const keys = Array.from({ length: this.pick([0, 1, 2]) }, () => this.pick(KEYS));
    return Object.fromEntries(keys.map((key) => [key, field.list ? some() : one()]));
  }

  #scalar(field: BuiltinField, name: string): Json {
    if (field.enum && this.#chance() < 0.8) return this.pick([...field.enum, 'Odd', '']);
    if (field.t !== 'string') return Object.hasOwn(SCALARS, field.t) ? this.pick(SCALARS[field.t]!) : {};
    const better = Object.hasOwn(BY_NAME, name) ? BY_NAME[name]! : undefined;
    return better && (name === 'expression' || this.#chance() < 0.7) ? this.pick(better) : this.pick(TEXTS);
  }
}
