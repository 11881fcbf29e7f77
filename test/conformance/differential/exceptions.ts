// What random sequences leave out because the servers are known to differ there, by name; differences.md lists it.

import { isObject, type Json, type JsonObject } from '#api/json';
import {
  INCOMPARABLE_CAUSES,
  INCOMPARABLE_REQUESTS,
} from '../../../src/apiserver/strategies/fuzz.testkit.ts';
import type { Seen } from './normalise.ts';

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
    what: 'A JSON patch that replaces a whole object by one without apiVersion, or of another kind, records other managers and warns of other fields.',
    why: 'The real server reads it as a struct of its own inside, which no client knows.',
  },
  panics: {
    what: 'Where the real server panics and closes the connection, this one answers.',
    why: 'There is nothing to be alike to.',
  },
  scaleOwners: {
    what: 'A write through `/scale` of a custom resource that changes nothing is recorded among the managers; the real server records other ones.',
    why: 'Not done yet.',
  },
  claimOwners: {
    what: 'An apply of `claimRef` of a PersistentVolume owns it as a whole; the real server notes fields below it, too.',
    why: 'Not done yet.',
  },
  definitionStatus: {
    what: '`/status` of a CustomResourceDefinition may be shown as a Table; the real server has none there.',
    why: 'Nobody asks for it.',
  },
  emptyIsNothing: {
    what: 'An empty list or map is nothing from the start; the real server tells it from nothing until it has stored it, so a few refusals and generations differ.',
    why: 'What is stored, and shown later, is the same.',
  },
  quotedOrder: {
    what: 'A refusal that quotes an object, several problems of an apply and several warnings name the fields in another order.',
    why: 'The real server writes them in the order of its structs, or in no order at all.',
  },
  mistypedFormats: {
    what: 'A list or object where a text with a `format` should be is refused or accepted alike, but its managers are recorded; the real server then records none.',
    why: 'It fails to, and says that this should not happen.',
  },
  goStructs: {
    what: 'A refusal that quotes a struct of Kubernetes, or a diff of two, shows it with the names of the API.',
    why: 'The real server shows names of Go fields, which are no part of the API.',
  },
} as const satisfies Record<string, Exception>;

/** The status of an answer that never came. */
export const DROPPED = 0;

/** Whether a step, by what was sent or by why it was refused, says nothing about agreement (emptyIsNothing). */
export function isIncomparable(request: string, ...answers: readonly Seen[]): boolean {
  return (
    answers.some(({ status }) => status === DROPPED) ||
    /apply-patch.*"claimRef"/.test(request) ||
    /customresourcedefinitions\/[^ ]*\/status.*as=Table/.test(request) ||
    INCOMPARABLE_REQUESTS.some((form) => form.test(request)) ||
    answers.some(({ body }) =>
      causesOf(body).some((cause) => INCOMPARABLE_CAUSES.some((form) => form.test(cause))),
    )
  );
}

function causesOf(body: Json): string[] {
  const details = isObject(body) && isObject(body['details']) ? body['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'] : [];
  return causes.filter(isObject).map(({ field, message }) => `${String(field)}: ${String(message)}`);
}

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
