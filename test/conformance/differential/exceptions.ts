// What random sequences leave out because the servers are known to differ there, by name; differences.md lists it.

import { isObject, type Json, type JsonObject } from '#api/json';

interface Exception {
  readonly what: string;
  readonly why: string;
}

export const EXCEPTIONS = {
  rewrittenClaims: {
    what: 'A PersistentVolumeClaim that is written as it is keeps its resourceVersion; the real server gives it a new one the first time.',
    why: 'The bytes in its store change, nothing that anybody can read does.',
  },
  emptyBytes: {
    what: 'An empty `caBundle` is no `caBundle`; for the real server it is one, and counts as a change of the generation.',
    why: 'Neither server shows it.',
  },
  dryRunPropagation: {
    what: 'A dry run of a deletion that takes the last finalizer of a terminating object answers as the deletion would; the real server answers an empty object.',
    why: 'An empty object tells nobody anything.',
  },
  replacedDocument: {
    what: 'A JSON patch that replaces a whole built-in object by one without apiVersion records other managers.',
    why: 'The real server reads it as a struct of its own inside, which no client knows.',
  },
  quotedOrder: {
    what: 'A refusal that quotes an object, or several problems of an apply, names the fields in another order.',
    why: 'The real server writes them in the order of its structs, or in no order at all.',
  },
  goStructs: {
    what: 'A refusal that quotes a struct of Kubernetes, or a diff of two, shows it with the names of the API.',
    why: 'The real server shows names of Go fields, which are no part of the API.',
  },
} as const satisfies Record<string, Exception>;

/** Removes empty `caBundle`s (emptyBytes). */
export function withoutEmptyBundles(value: Json): void {
  if (Array.isArray(value)) for (const item of value) withoutEmptyBundles(item);
  if (!isObject(value)) return;
  if (value['caBundle'] === '') delete value['caBundle'];
  for (const entry of Object.values(value)) if (entry !== undefined) withoutEmptyBundles(entry);
}

/** Whether a JSON patch replaces everything (replacedDocument). */
export const replacesAll = (patch: Json): boolean =>
  Array.isArray(patch) &&
  patch.some((entry) => isObject(entry) && entry['op'] === 'replace' && (entry as JsonObject)['path'] === '');
