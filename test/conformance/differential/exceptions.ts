// Known differences that random sequences leave out, by name. differences.md lists them.

import { INCOMPARABLE_CAUSES, INCOMPARABLE_REQUESTS } from '@lapse/apiserver/strategies/fuzz.testkit';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
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
  hiddenFields: {
    what: 'A custom resource that was applied with null or empty lists in its metadata, or with fields that are not kept, keeps its resourceVersion when it is written as it is; the real server gives it a new one the first time.',
    why: 'Its store holds something that nobody can read.',
  },
  coercedDefaults: {
    what: 'Metadata inside a default of a definition is kept as it was sent; the real server drops what is unknown or empty in it, and then may find that versions are identical.',
    why: 'It edits them in the middle of its validation; objects get the same defaults.',
  },
  foreignKinds: {
    what: 'A custom resource of another kind, with fields of wrong types, is refused for its kind; the real server adds what its rules made of the fields.',
    why: 'Its rules run on what was never checked.',
  },
  testedMarkup: {
    what: 'A JSON patch that sets a text with `<`, `>` or `&` and tests it in a later operation fails; on the real server it applies.',
    why: 'Texts are compared as they are spelled, there by where they come from.',
  },
  refusedVersions: {
    what: 'A body of another version is refused without warnings; the real server has warned of unknown metadata before.',
    why: 'Nobody warns of what is refused anyway.',
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
    what: 'A refusal that quotes owner references, new finalizers or an object for a key, several problems of an apply and several warnings name them in another order.',
    why: 'The real server sorts them, or has no order at all.',
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

/** The status of a missing answer. */
export const DROPPED = 0;

/** Whether a step cannot be compared, because of its request or the reason of its refusal (emptyIsNothing). */
export function isIncomparable(request: string, ...answers: readonly Seen[]): boolean {
  return (
    answers.some(({ status }) => status === DROPPED) ||
    /customresourcedefinitions\/[^ ]*\/status.*as=Table/.test(request) ||
    hides(request, answers) ||
    EMPTY_PROPERTIES.test(request) ||
    hasEmptyRoot(request, answers) ||
    answers.some(({ body }) => isObject(body) && OBJECT_FOR_KEY.test(String(body['message']))) ||
    COERCED_DEFAULT.test(request) ||
    TESTED_MARKUP.test(request) ||
    forgetsManagers(request, answers) ||
    isEmptyDeletion(request, answers) ||
    INCOMPARABLE_REQUESTS.some((form) => form.test(request)) ||
    answers.some(({ body }) =>
      causesOf(body).some((cause) => [...INCOMPARABLE_CAUSES, ...ACCIDENTS].some((form) => form.test(cause))),
    )
  );
}

/** A patch of a CRD with an empty map: the real server counts it as a change (emptyIsNothing). */
const EMPTY_PROPERTIES = /^PATCH [^ ]*customresourcedefinitions.*"properties":\{\}/;

/** `.spec.containers[name=x=1odd="7"]` (quotedOrder). */
const OBJECT_FOR_KEY = /failed to create typed patch object .*\[\w+=\w+=/;

/** Whether only the real server refuses an empty list at the root of a schema (emptyIsNothing). */
const hasEmptyRoot = (request: string, [real]: readonly Seen[]): boolean =>
  /":\[\]/.test(request) &&
  causesOf(real!.body).some((cause) => /fields are allowed at the root of the schema/.test(cause));

const CUSTOM_APPLY = /\.example\.com\/.*apply-patch/;
const HIDDEN =
  /"status":null|"metadata":\{"name":""|"metadata":\{((?!"spec").)*(null|\[\])|"(unknownInside|odd|Spec|unknownField)":/;

/** Whether the real server stored more than it returns. */
const hides = (request: string, answers: readonly Seen[]): boolean =>
  answers.every(({ status }) => status < 300) && CUSTOM_APPLY.test(request) && HIDDEN.test(request);

/** Whether the real server answered a dry run with an empty object (dryRunPropagation). */
const isEmptyDeletion = (request: string, [real]: readonly Seen[]): boolean =>
  /^DELETE .*dryRun/.test(request) && isObject(real!.body) && real!.body['metadata'] === undefined;

/** Whether the real server recorded no managers of what it accepted (mistypedFormats). */
const forgetsManagers = (request: string, [real, embedded]: readonly Seen[]): boolean =>
  /\.example\.com\//.test(request) && !hasManagers(real!) && hasManagers(embedded!);

const hasManagers = ({ status, body }: Seen): boolean =>
  status >= 300 ||
  !isObject(body) ||
  !isObject(body['metadata']) ||
  body['metadata']['managedFields'] !== undefined;

const TESTED_MARKUP = /json-patch\+json"\} \[.*\},\{"op":"test".*[<>&]/;
const COERCED_DEFAULT =
  /customresourcedefinitions.*"default":\{"apiVersion":"v1","kind":"Any","metadata":\{(?!"name":"inner"\})/;
const ACCIDENTS = [
  /per-version schemas may not all be set to identical values/,
  /invalid data, expected .* evaluating rule/,
];

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
