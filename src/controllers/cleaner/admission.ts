// The two words admission has about Cleaners. First the author is written down, signed. Then the Cleaner is understood as
// a pass would understand it, and the rights of its author are reviewed. Only a changed spec needs an author.

import { type FieldError, forbidden, invalid, invalidError, required } from '#api/fieldErrors';
import { equal, getOwn, isObject, type Json } from '#api/json';
import { Cleaner } from '#api/kinds/cleaner';
import type { Client } from '#client/client';
import { describeNeeds, impersonationOf, type Need, reviewSubject, type Subject } from '#lifecycle/rights';
import { AUTHOR_ANNOTATION, type AuthorSeal } from '#lifecycle/rightsAuthor';
import type { AdmissionAnswer, AdmissionFunction, AdmissionRequest } from '#runtime/host/review';
import { needsForHelm, needsToDelete, needsToSee, signedOf } from './actor.ts';
import { findKind } from './kinds.ts';
import type { Resolved } from './snapshot.ts';
import { type Meaning, understand } from './spec.ts';

const RESOURCES = [`${Cleaner.resource}.${Cleaner.group}`];

export interface AdmissionOptions {
  readonly client: Client;
  readonly actAs: 'author' | 'controller';
  readonly seal: AuthorSeal;
  readonly defaultAccount?: string;
}

const cleanerOf = ({ operation, object }: AdmissionRequest): Cleaner | undefined =>
  operation === 'DELETE' || object === null || !isObject(object.spec) ? undefined : (object as Cleaner);

const isSpecChanged = ({ operation, object, oldObject }: AdmissionRequest): boolean =>
  operation === 'CREATE' || !equal(object?.spec as Json | undefined, oldObject?.spec as Json | undefined);

const subjectOf = ({ userInfo: { username, uid, groups, extra } }: AdmissionRequest): Subject => ({
  username,
  ...(uid === undefined || uid === '' ? {} : { uid }),
  groups: groups ?? [],
  ...(extra === undefined ? {} : { extra }),
});

/** Writes the author of a new or changed spec into the annotation; whatever a user wrote there is dropped. */
export const cleanerAuthor = ({ seal }: AdmissionOptions): AdmissionFunction => ({
  name: 'cleaner-author',
  resources: RESOURCES,
  phase: 'mutating',
  async review(request) {
    const cleaner = cleanerOf(request);
    if (cleaner === undefined) return { allowed: true };
    if (!isSpecChanged(request)) {
      const before = request.oldObject?.metadata.annotations?.[AUTHOR_ANNOTATION];
      return { allowed: true, object: withAuthor(cleaner, before) };
    }
    // A generated name is not known yet, and an author answers for one object.
    if (!cleaner.metadata.name)
      return deny(cleaner, [forbidden('metadata.generateName', 'a Cleaner needs a name of its own')]);
    const text = await seal.seal(subjectOf(request), signedOf(cleaner, request.namespace));
    return { allowed: true, object: withAuthor(cleaner, text) };
  },
});

function withAuthor(cleaner: Cleaner, text: string | undefined): Cleaner {
  const { [AUTHOR_ANNOTATION]: _, ...annotations } = cleaner.metadata.annotations ?? {};
  if (text !== undefined) annotations[AUTHOR_ANNOTATION] = text;
  return { ...cleaner, metadata: { ...cleaner.metadata, annotations } };
}

/** Refuses what could not be evaluated, what may not be touched, and what the author may not do. */
export const cleanerRules = (options: AdmissionOptions): AdmissionFunction => ({
  name: 'cleaner',
  resources: RESOURCES,
  phase: 'validating',
  async review(request) {
    const cleaner = cleanerOf(request);
    if (cleaner === undefined || !isSpecChanged(request)) return { allowed: true };
    const understood = understand(cleaner);
    if (understood.kind === 'invalid')
      return deny(
        cleaner,
        understood.problems.map(({ field, message }) => {
          const value = valueAt(cleaner, field);
          return value === undefined ? required(field, message) : invalid(field, value, message);
        }),
      );
    return reviewKinds(cleaner, understood.meaning, request, options);
  },
});

/** What stands at `spec.targets[0].name`. */
const valueAt = (cleaner: Cleaner, field: string): Json | undefined =>
  field
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<Json | undefined>(
      (at, step) => (Array.isArray(at) ? at[Number(step)] : isObject(at) ? getOwn(at, step) : undefined),
      cleaner as unknown as Json,
    );

async function reviewKinds(
  cleaner: Cleaner,
  meaning: Meaning,
  request: AdmissionRequest,
  options: AdmissionOptions,
): Promise<AdmissionAnswer> {
  const all = await options.client.discovery.all();
  const resolved: Resolved[] = [];
  const errors: FieldError[] = [];
  const warnings: string[] = [];
  meaning.targets.forEach((target, i) => {
    const found = findKind(all, target.reference);
    if (found.kind === 'found') resolved.push({ target, kind: found.served });
    else if (found.kind === 'refused') errors.push(forbidden(`spec.targets[${i}].reference`, found.why));
    else warnings.push(`target ${target.name}: ${target.reference.kind} is not served (yet)`);
  });
  if (errors.length > 0) return deny(cleaner, errors);
  const missing = await missingRights(meaning, resolved, request, options);
  if (missing.length === 0) return { allowed: true, warnings };
  const field = meaning.account === undefined ? 'spec' : 'spec.serviceAccountName';
  return deny(cleaner, [forbidden(field, `${request.userInfo.username} may not ${describeNeeds(missing)}`)]);
}

/** With an account of its own, the author need only be allowed to act as it; with the operator's, nothing. */
async function missingRights(
  meaning: Meaning,
  resolved: readonly Resolved[],
  request: AdmissionRequest,
  { client, actAs, defaultAccount }: AdmissionOptions,
): Promise<Need[]> {
  const { namespace = '' } = request;
  if (actAs === 'controller') return [];
  if (meaning.account !== undefined)
    return reviewSubject(client, subjectOf(request), [impersonationOf({ namespace, name: meaning.account })]);
  if (defaultAccount !== undefined) return [];
  return reviewSubject(client, subjectOf(request), [
    ...resolved.flatMap(({ target, kind }) => needsToSee(target, kind, namespace)),
    ...resolved.flatMap(({ target, kind }) => needsToDelete(target, kind, namespace)),
    ...(meaning.release === undefined ? [] : needsForHelm(namespace)),
  ]);
}

function deny(cleaner: Cleaner, errors: readonly FieldError[]): AdmissionAnswer {
  const { group, kind } = Cleaner;
  const { message, code, reason, status } = invalidError({ group, kind }, cleaner.metadata.name ?? '', [
    ...errors,
  ]);
  return {
    allowed: false,
    message,
    code,
    reason,
    ...(status.details === undefined ? {} : { details: status.details }),
  };
}
