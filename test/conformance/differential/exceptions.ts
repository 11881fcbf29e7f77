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
    what: 'A PersistentVolumeClaim that is written unchanged keeps its resourceVersion; kube-apiserver increments it the first time.',
    why: 'Only its encoding in etcd changes, which no client can read.',
  },
  emptyBytes: {
    what: 'An empty `caBundle` equals an absent one; for kube-apiserver it is a change that increments the generation.',
    why: 'Neither server returns it.',
  },
  dryRunPropagation: {
    what: 'A dry run of a DELETE that removes the last finalizer of a terminating object returns the response of the DELETE; kube-apiserver returns an empty object.',
    why: 'An empty object has no information for the client.',
  },
  replacedDocument: {
    what: 'A JSON patch that replaces a whole object by one without apiVersion, or of another kind, records other managers and warns of other fields.',
    why: 'kube-apiserver decodes it as an internal struct, which is not part of the API.',
  },
  panics: {
    what: 'The server sends a response where kube-apiserver panics and closes the connection.',
    why: 'There is no response to compare.',
  },
  hiddenFields: {
    what: 'A custom resource that was applied with null or empty lists in its metadata, or with pruned fields, keeps its resourceVersion when it is written unchanged; kube-apiserver increments it the first time.',
    why: 'Only its encoding in etcd changes, which no client can read.',
  },
  coercedDefaults: {
    what: 'Metadata inside a default of a CRD is kept as sent; kube-apiserver drops unknown and empty fields in it, and may then find that versions are identical.',
    why: 'kube-apiserver modifies them during validation. Objects get the same defaults.',
  },
  foreignKinds: {
    what: 'A custom resource of another kind with fields of wrong types is rejected for its kind; kube-apiserver adds errors of its rules.',
    why: 'kube-apiserver evaluates the rules before the types are checked.',
  },
  testedMarkup: {
    what: 'A JSON patch that sets a text with `<`, `>` or `&` and tests it in a later operation fails; on kube-apiserver it applies.',
    why: 'The server compares the JSON text; kube-apiserver compares depending on the origin of the value.',
  },
  refusedVersions: {
    what: 'A body of another version is rejected without warnings; kube-apiserver also warns of unknown metadata.',
    why: 'Warnings of a rejected request have no use.',
  },
  definitionStatus: {
    what: '`/status` of a CustomResourceDefinition is available as a Table; on kube-apiserver it is not.',
    why: 'No client requests it.',
  },
  emptyIsNothing: {
    what: 'An empty list or map equals an absent one from the start. kube-apiserver distinguishes them until the object is stored, so a few errors and generations differ.',
    why: 'The stored object is the same.',
  },
  quotedOrder: {
    what: 'Errors that quote owner references, new finalizers or an object as a key, several errors of an apply, and several warnings have another order.',
    why: 'kube-apiserver sorts them, or has no order.',
  },
  mistypedFormats: {
    what: 'If a text with a `format` is a list or an object, both servers reject or accept it alike, but only the embedded server records its managers.',
    why: 'On kube-apiserver the recording fails with an internal error.',
  },
  goStructs: {
    what: 'Errors that quote a struct of Kubernetes, or a diff of two, show it with the field names of the API.',
    why: 'kube-apiserver shows names of Go fields, which are not part of the API.',
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
