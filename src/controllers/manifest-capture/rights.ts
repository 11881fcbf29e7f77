// Whose rights a capture has. A request names objects and gets their contents: without a review, whoever may create
// requests would read whatever the controller may.

import type { Json } from '#api/json';
import { ManifestCaptureRequest } from '#api/kinds/manifestCaptureRequest';
import { Reason } from '#api/kinds/storage/conditions';
import type { Client } from '#client/client';
import { type Failure, failure } from '#lifecycle/requests/refusal';
import { describeNeeds, type Need, reviewSubject, type Subject } from '#lifecycle/rights';
import type { AuthorSeal, Signed } from '#lifecycle/rightsAuthor';
import type { Target } from './targets.ts';

/** What a signature speaks for. A generated name is not known to admission: then it is the beginning that counts. */
const signedAs = ({ metadata, spec }: ManifestCaptureRequest, name: string): Signed => ({
  kind: ManifestCaptureRequest.kind,
  namespace: metadata.namespace ?? '',
  name,
  asked: (spec ?? {}) as Json,
});

const generated = ({ metadata }: ManifestCaptureRequest): string | undefined =>
  metadata.generateName === undefined ? undefined : `${metadata.generateName}*`;

/** For admission: what is signed of a request that may have no name yet. */
export const signedOf = (request: ManifestCaptureRequest): Signed =>
  signedAs(request, request.metadata.name || (generated(request) ?? ''));

/** Who is known to have asked for it. */
export async function authorOf(
  seal: AuthorSeal,
  request: ManifestCaptureRequest,
): Promise<Subject | undefined> {
  const { name = '', generateName } = request.metadata;
  const author = await seal.authorOf(request, signedAs(request, name));
  if (author !== undefined || generateName === undefined || !name.startsWith(generateName)) return author;
  return seal.authorOf(request, signedAs(request, generated(request)!));
}

/** What of the targets the subject may not read. Asked per kind first: most people may read all or nothing of a kind. */
export async function reviewTargets(
  client: Pick<Client, 'create'>,
  subject: Subject,
  targets: readonly Target[],
): Promise<Need[]> {
  const byKind = Map.groupBy(targets, kindNeedText);
  const kindNeeds = [...byKind.values()].map(([first]) => kindNeed(first!));
  const missing = new Set((await reviewSubject(client, subject, kindNeeds)).map(needText));
  const open = targets.filter((target) => missing.has(kindNeedText(target)));
  const needs = open.map((target) => ({ ...kindNeed(target), name: target.name }));
  return reviewSubject(client, subject, needs);
}

/** A Namespace counts as being inside of itself, as the API server has it. */
const kindNeed = ({ served, namespace, name }: Target): Need => ({
  verb: 'get',
  group: served.group,
  resource: served.resource,
  namespace: namespace === '' ? name : namespace,
});
const needText = ({ group, resource }: Need): string => `${resource}.${group}`;
const kindNeedText = (target: Target): string => needText(kindNeed(target));

/** As many as people want to read. */
const MOST_NAMED = 10;

export function describeMissing(subject: Subject, missing: readonly Need[]): string {
  const more = missing.length > MOST_NAMED ? `, and ${missing.length - MOST_NAMED} more` : '';
  return `${subject.username} may not ${describeNeeds(missing.slice(0, MOST_NAMED))}${more}`;
}

export const NO_AUTHOR: Failure = failure(
  Reason.RBACDenied,
  'nobody is known to have asked for this: the request was made while admission was not there to see its author',
);
