// Computes what an apply would change: compares the live object with the result of a server-side dry run. Values of
// Secrets are compared but never shown.

import { equal, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { typeOf } from './strip.ts';

export interface Change {
  /** `spec.template.spec.containers[web].image`. */
  readonly path: string;
  /** As JSON; undefined if the field does not exist. */
  readonly before?: string;
  readonly after?: string;
}

/** Fields that the API server sets at every write. */
const SERVER_FIELDS = [
  'managedFields',
  'resourceVersion',
  'generation',
  'uid',
  'creationTimestamp',
  'selfLink',
];

/** The fields of a Secret that contain its values, or kubectl's copy of them. */
const SECRET_PATH = /^((data|stringData)(\.|\[|$)|metadata\.annotations)/;

export function diffObjects(before: KubeObject, after: KubeObject): Change[] {
  const changes: Change[] = [];
  const isSecret = typeOf(after) === '/Secret';
  const note = (path: string, was: Json | undefined, is: Json | undefined) => {
    const show = isSecret && SECRET_PATH.test(path) ? hidden : shown;
    changes.push({
      path,
      ...(was === undefined ? {} : { before: show(was) }),
      ...(is === undefined ? {} : { after: show(is) }),
    });
  };
  compare(comparable(before), comparable(after), '', note);
  return changes;
}

/** The object without server fields and without status, which an apply does not change. */
function comparable(object: KubeObject): JsonObject {
  const { status: _, metadata, ...rest } = asJson(object);
  const kept = Object.entries(isObject(metadata) ? metadata : {}).filter(
    ([key]) => !SERVER_FIELDS.includes(key),
  );
  return { ...rest, metadata: Object.fromEntries(kept) };
}

type Note = (path: string, was: Json | undefined, is: Json | undefined) => void;

function compare(was: Json | undefined, is: Json | undefined, path: string, note: Note): void {
  if (equal(was, is)) return;
  if (isObject(was) && isObject(is)) {
    const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
    for (const key of keys) compare(was[key], is[key], step(path, key), note);
  } else if (Array.isArray(was) && Array.isArray(is)) compareLists(was, is, path, note);
  else note(path, was, is);
}

/** Quotes keys with dots or slashes, so that the path is unambiguous. */
const step = (path: string, key: string): string => {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
};

/** Items with names are compared by name, others by position. */
function compareLists(was: Json[], is: Json[], path: string, note: Note): void {
  const before = named(was);
  const after = named(is);
  if (before === undefined || after === undefined) {
    for (let i = 0; i < Math.max(was.length, is.length); i++) compare(was[i], is[i], `${path}[${i}]`, note);
    return;
  }
  for (const name of new Set([...before.keys(), ...after.keys()]))
    compare(before.get(name), after.get(name), `${path}[${name}]`, note);
  const isReordered = [...before.keys()].join('\n') !== [...after.keys()].join('\n');
  if (isReordered && before.size === after.size) note(path, [...before.keys()], [...after.keys()]);
}

function named(list: readonly Json[]): Map<string, Json> | undefined {
  const byName = new Map<string, Json>();
  for (const item of list) {
    if (!isObject(item) || typeof item.name !== 'string' || byName.has(item.name)) return undefined;
    byName.set(item.name, item);
  }
  return byName;
}

const MOST_SHOWN = 200;

function shown(value: Json): string {
  const text = writeJson(value);
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}… (${text.length} characters)`;
}

const hidden = (value: Json): string =>
  typeof value === 'string' ? `(hidden, ${value.length} characters)` : '(hidden)';
