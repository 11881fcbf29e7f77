// The ways in which a JSON value can stop matching an expectation, each as a change at one place.

import { isObject, type Json, setOwn } from '@lapse/kube/api/json';
import { synthesise } from './responses.ts';

export interface Change {
  readonly what: string;
  readonly apply: (root: Record<string, Json | undefined>) => void;
}

interface Place {
  /** From the root to the value; list indexes as numbers. */
  readonly path: readonly (string | number)[];
  /** Extra keys count as differences here. */
  readonly exact: boolean;
}

export function changesOf(expected: Json, place: Place): Change[] {
  if (expected === '{{absent}}') return [set(place, 'present', 'unexpected')];
  if (isObject(expected) && Array.isArray(expected.$lacks)) return lackedChanges(expected.$lacks, place);
  const missing = place.path.length > 1 ? [remove(place)] : [];
  return [...missing, ...valueChanges(expected, place)];
}

function valueChanges(expected: Json, place: Place): Change[] {
  if (typeof expected === 'string') return textChanges(expected, place);
  if (Array.isArray(expected)) return listChanges(expected, place);
  if (isObject(expected)) return objectChanges(expected, place);
  if (typeof expected === 'number') return [set(place, 'other number', expected + 1)];
  if (typeof expected === 'boolean') return [set(place, 'negated', !expected)];
  return [set(place, 'not null', 'x')];
}

function textChanges(expected: string, place: Place): Change[] {
  if (expected === '{{any}}') return [];
  // A free text at the end matches anything that is appended.
  const swallows = /\{\{any:(string|word)\}\}/.test(expected);
  const ofOtherType = set(place, 'other type', /any:(int|number)/.test(expected) ? 'text' : 12345);
  if (swallows || /\{\{any:(int|number|list|object)\}\}/.test(expected)) return [ofOtherType];
  return [update(place, 'other text', (v) => `${String(v)}☠`), ofOtherType];
}

function listChanges(expected: Json[], place: Place): Change[] {
  const element = (i: number) => ({ ...place, path: [...place.path, i] });
  // Elements are not removed one by one: the next would move up, which is another kind of change.
  const inside = expected.flatMap((e, i) => (e === '{{absent}}' ? [] : valueChanges(e, element(i))));
  const pushed = update(place, 'extra element', (v) => [...(v as Json[]), 'extra']);
  const popped = update(place, 'element missing', (v) => (v as Json[]).slice(0, -1));
  return expected.length === 0 ? [pushed] : [pushed, popped, ...inside];
}

function objectChanges(
  expected: Exclude<Json, string | number | boolean | null | bigint | Json[]>,
  place: Place,
): Change[] {
  if (Array.isArray(expected.$contains))
    return expected.$contains.length === 0 ? [] : [set(place, 'emptied', [])];
  // Keys with variables are not changed: the path would need the values of the variables.
  const fields = Object.entries(expected).filter(([key, v]) => v !== undefined && !key.includes('{{'));
  const inside = fields.flatMap(([key, v]) => changesOf(v!, { ...place, path: [...place.path, key] }));
  const extra = place.exact
    ? [set({ ...place, path: [...place.path, 'unexpectedKey'] }, 'extra key', 1)]
    : [];
  return [set(place, 'not an object', 'text'), ...extra, ...inside];
}

function lackedChanges(unwanted: Json[], place: Place): Change[] {
  const element = unwanted.map((e) => synthesise(e, {})).find((e) => e !== undefined);
  return element === undefined || JSON.stringify(element).includes('{{')
    ? []
    : [set(place, 'unwanted element', [element])];
}

const describe = (place: Place, how: string) => `${place.path.join('.')}: ${how}`;

const set = (place: Place, how: string, value: Json) => update(place, how, () => value);

function update(place: Place, how: string, change: (old: Json | undefined) => Json): Change {
  return {
    what: describe(place, how),
    apply: (root) => {
      const { holder, key } = find(root, place.path);
      if (Array.isArray(holder)) holder[Number(key)] = change(holder[Number(key)]);
      else setOwn(holder, String(key), change(holder[String(key)]));
    },
  };
}

function remove(place: Place): Change {
  return {
    what: describe(place, 'missing'),
    apply: (root) => {
      const { holder, key } = find(root, place.path);
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[String(key)];
    },
  };
}

function find(root: Record<string, Json | undefined>, path: readonly (string | number)[]) {
  let holder: Json[] | Record<string, Json | undefined> = root;
  for (const step of path.slice(0, -1)) {
    const next: Json | undefined = Array.isArray(holder) ? holder[Number(step)] : holder[String(step)];
    if (typeof next !== 'object' || next === null) throw new Error(`nothing at ${path.join('.')}`);
    holder = next;
  }
  return { holder, key: path.at(-1)! };
}
