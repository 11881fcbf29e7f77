// Decodes a JSON patch document into the operations struct of kube-apiserver, with its errors.

import { quoteGo } from '@lapse/kube/api/fieldErrors';
import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import { MAX_STRICT_ERRORS } from './decodeError.ts';
import { jsonWord } from './typedState.ts';

export interface PatchOperation {
  op: string;
  path?: string;
  from?: string;
  /** Absent is not null: an absent value only equals a missing key. */
  value?: Json;
}

const FIELDS = ['op', 'path', 'from', 'value'];

type Decoded = { operations: PatchOperation[]; problems: string[] } | { refusal: string };

export function decodePatchOperations(value: Json, notes?: JsonNotes): Decoded {
  if (value === null) return { operations: [], problems: [] };
  if (!Array.isArray(value)) return refuse(jsonWord(value), 'value of type []handlers.jsonPatchOp');
  const operations: PatchOperation[] = [];
  const problems: string[] = [];
  for (const [index, item] of value.entries()) {
    if (item === null) operations.push({ op: '' });
    else if (!isObject(item)) return refuse(jsonWord(item), 'value of type handlers.jsonPatchOp');
    else {
      const wrong = ['op', 'path', 'from'].find((name) => !isText(getOwn(item, name)));
      if (wrong !== undefined)
        return refuse(jsonWord(item[wrong]!), `struct field jsonPatchOp.${wrong} of type string`);
      operations.push(operationOf(item));
      problems.push(...problemsOf(item, index, notes));
    }
  }
  return { operations, problems: problems.slice(0, MAX_STRICT_ERRORS) };
}

const refuse = (word: string, target: string): Decoded => ({
  refusal: `json: cannot unmarshal ${word} into Go ${target}`,
});

const isText = (value: Json | undefined): boolean =>
  value === undefined || value === null || typeof value === 'string';

function operationOf(item: JsonObject): PatchOperation {
  const operation: PatchOperation = { op: (getOwn(item, 'op') as string | null | undefined) ?? '' };
  const { path, from } = { path: getOwn(item, 'path'), from: getOwn(item, 'from') };
  if (typeof path === 'string') operation.path = path;
  if (typeof from === 'string') operation.from = from;
  const value = getOwn(item, 'value');
  if (value !== undefined) operation.value = value;
  return operation;
}

function problemsOf(item: JsonObject, index: number, notes?: JsonNotes): string[] {
  const unknown = Object.keys(item).filter((key) => !FIELDS.includes(key));
  const repeated = (notes?.duplicates.get(item) ?? [])
    .map(({ key }) => key)
    .filter((key) => FIELDS.includes(key));
  const text = (what: string, key: string) => `json patch ${what} field ${quoteGo(`[${index}].${key}`)}`;
  return [
    ...unknown.map((key) => text('unknown', key)),
    ...[...new Set(repeated)].map((key) => text('duplicate', key)),
  ];
}
