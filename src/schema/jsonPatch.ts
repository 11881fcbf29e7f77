// JSON patch (RFC 6902) with the habits of the library that kube-apiserver uses: `replace` of a missing map key adds it,
// negative indices count from the end, `copy` of a missing key copies null.

import { clone, equal, getOwn, isObject, type Json, type JsonObject, setOwn } from '#api/json';

export type JsonPatchFailure = 'malformed' | 'tooLarge' | 'inapplicable';

export class JsonPatchError extends Error {
  readonly kind: JsonPatchFailure;
  constructor(kind: JsonPatchFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface JsonPatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from: string | undefined;
  readonly value: Json | undefined;
}

const MAX_OPERATIONS = 10_000;

export function parseJsonPatch(value: Json): JsonPatchOperation[] {
  if (!Array.isArray(value)) {
    throw new JsonPatchError(
      'malformed',
      `json: cannot unmarshal ${goKind(value)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (value.length > MAX_OPERATIONS) {
    const text = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`;
    throw new JsonPatchError('tooLarge', `Request entity too large: ${text}`);
  }
  return value.map(parseOperation);
}

function parseOperation(value: Json): JsonPatchOperation {
  if (!isObject(value)) {
    throw new JsonPatchError(
      'malformed',
      `json: cannot unmarshal ${goKind(value)} into Go value of type handlers.jsonPatchOp`,
    );
  }
  return {
    op: text(value, 'op') ?? '',
    path: text(value, 'path') ?? '',
    from: text(value, 'from'),
    value: value['value'],
  };
}

function text(operation: JsonObject, name: string): string | undefined {
  const value = operation[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new JsonPatchError(
    'malformed',
    `json: cannot unmarshal ${goKind(value)} into Go struct field jsonPatchOp.${name} of type string`,
  );
}

function goKind(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  return value === null
    ? 'null'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'string'
        ? 'string'
        : 'number';
}

const refuse = (why: string) => new JsonPatchError('inapplicable', why);

/** The patched document; `document` itself is not changed. */
export function applyJsonPatch(document: Json, operations: readonly JsonPatchOperation[]): Json {
  let root = clone(document);
  for (const operation of operations) root = applyOne(root, operation);
  return root;
}

function applyOne(root: Json, { op, path, from, value }: JsonPatchOperation): Json {
  switch (op) {
    case 'add':
      return put(root, path, clone(required(value)), 'add');
    case 'replace':
      return put(root, path, clone(required(value)), 'replace');
    case 'remove':
      return remove(root, path);
    case 'test':
      if (!equal(read(root, path) ?? null, value ?? null)) throw refuse(`testing value ${path} failed`);
      return root;
    case 'copy':
      return put(root, path, clone(read(root, requiredFrom(from)) ?? null), 'add');
    case 'move': {
      const source = requiredFrom(from);
      if (path === source) return root;
      if (path.startsWith(`${source}/`)) throw refuse('a value cannot be moved into itself');
      const moved = read(root, source);
      return put(remove(root, source), path, moved ?? null, 'add');
    }
    default:
      throw refuse(`Unexpected kind: ${op}`);
  }
}

// An absent value is null to Go.
const required = (value: Json | undefined): Json => value ?? null;

function requiredFrom(from: string | undefined): string {
  if (from === undefined) throw refuse('operation has no from');
  return from;
}

type Container = JsonObject | Json[];

function segments(path: string): string[] {
  if (!path.startsWith('/')) throw refuse(`missing path: ${path}`);
  return path
    .slice(1)
    .split('/')
    .map((s) => s.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The container of the last segment; every step before it must exist. */
function locate(root: Json, path: string): { parent: Container; key: string } {
  const parts = segments(path);
  const key = parts.pop()!;
  let at: Json | undefined = root;
  for (const part of parts) at = isContainer(at) ? child(at, part) : undefined;
  if (!isContainer(at)) throw refuse(`doc is missing path: "${path}": missing value`);
  return { parent: at, key };
}

const isContainer = (value: Json | undefined): value is Container =>
  typeof value === 'object' && value !== null;

function child(container: Container, key: string): Json | undefined {
  if (!Array.isArray(container)) return getOwn(container, key);
  return container[indexOf(container, key, container.length - 1)];
}

/** An index into a list: digits, or negative from the end. */
function indexOf(list: readonly Json[], key: string, max: number): number {
  if (!/^-?[0-9]+$/.test(key)) throw refuse(`invalid index "${key}"`);
  const index = Number(key);
  const resolved = index < 0 ? index + max + 1 : index;
  if (resolved < 0 || resolved > max)
    throw refuse(`Unable to access invalid index: ${key} (length ${list.length})`);
  return resolved;
}

function read(root: Json, path: string): Json | undefined {
  if (path === '') return root;
  const { parent, key } = locate(root, path);
  return child(parent, key);
}

function put(root: Json, path: string, value: Json, how: 'add' | 'replace'): Json {
  if (path === '') return value;
  const { parent, key } = locate(root, path);
  if (!Array.isArray(parent)) setOwn(parent, key, value);
  else if (how === 'replace') parent[indexOf(parent, key, parent.length - 1)] = value;
  else if (key === '-') parent.push(value);
  else parent.splice(indexOf(parent, key, parent.length), 0, value);
  return root;
}

function remove(root: Json, path: string): Json {
  if (path === '') throw refuse('cannot remove the whole document');
  const { parent, key } = locate(root, path);
  if (Array.isArray(parent)) parent.splice(indexOf(parent, key, parent.length - 1), 1);
  else if (!Object.hasOwn(parent, key)) throw refuse(`Unable to remove nonexistent key: ${key}`);
  else delete parent[key];
  return root;
}
