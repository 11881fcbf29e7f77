// The rights that Lapse itself needs for a Cleaner. Admission and `lapse doctor` report the missing ones.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { Cleaner } from '#api/cleaner';
import type { Need } from '#authors/accessReview';
import type { Driver } from '#helm/storage';
import { checkAuthor, lackOf, type ObjectCheck, type ReviewNeeds } from '../objectCheck.ts';
import type { Actors } from './actor.ts';
import { needsForHelm, needsToDelete, needsToSee, needToMark } from './needs.ts';
import type { Resolved } from './snapshot.ts';
import { type Meaning, understand } from './spec.ts';
import { sortKinds } from './targets.ts';

export const needsOf = (resolved: readonly Resolved[], namespace: string): Need[] => [
  ...resolved.flatMap(({ target, kind }) => needsToSee(target, kind, namespace)),
  ...resolved.flatMap(({ target, kind }) => needsToDelete(target, kind, namespace)),
];

type HelmNeeds = (namespace: string, driver: Driver) => Need[];

/** Lapse itself also marks the record of a release that it could not uninstall completely. */
const ownNeedsForHelm: HelmNeeds = (namespace, driver) => [
  ...needsForHelm(namespace, driver),
  needToMark(namespace, driver),
];

/**
 * Rights to one of the places where Helm keeps records are enough. If both are missing, those to Secrets are
 * reported.
 */
export async function missingForHelm(
  namespace: string,
  review: ReviewNeeds,
  needsOfDriver: HelmNeeds = needsForHelm,
): Promise<Need[]> {
  const secrets = await review(needsOfDriver(namespace, 'secret'));
  if (secrets.length === 0) return [];
  return (await review(needsOfDriver(namespace, 'configmap'))).length === 0 ? [] : secrets;
}

export interface OwnRightsOptions {
  readonly client: Pick<Client, 'discovery'>;
  readonly defaultAccount?: string;
  /** Deletes are sent as the author. */
  readonly asAuthor: boolean;
}

/**
 * The rights that Lapse itself lacks to carry out the Cleaner. The right to impersonate belongs to the installation
 * and is not part of the result.
 */
export async function missingOfLapse(
  meaning: Meaning,
  resolved: readonly Resolved[],
  namespace: string,
  { asAuthor, defaultAccount }: OwnRightsOptions,
  review: ReviewNeeds,
): Promise<Need[]> {
  // When Lapse acts as an account or author, it uses its own rights only for the watches of included targets.
  const isOther = meaning.account !== undefined || defaultAccount !== undefined || asAuthor;
  const seen = resolved.flatMap(({ target, kind }) => needsToSee(target, kind, namespace));
  const missing = await review(isOther ? seen : needsOf(resolved, namespace));
  if (meaning.release !== undefined && !isOther)
    missing.push(...(await missingForHelm(namespace, review, ownNeedsForHelm)));
  return missing;
}

export const cleanerCheck = (options: OwnRightsOptions, actors: Actors): ObjectCheck => ({
  kind: Cleaner,
  async check(object: KubeObject, review) {
    const cleaner = object as Cleaner;
    const understood = understand(cleaner);
    if (understood.kind === 'invalid')
      return understood.problems.map(({ field, message }) => ({
        level: 'warning',
        message: `${field}: ${message}`,
      }));
    const { meaning } = understood;
    const { resolved } = sortKinds(await options.client.discovery.all(), meaning.targets);
    const author = await checkAuthor(async () => {
      const actor = await actors.of(cleaner);
      return actor.kind === 'noActor' ? actor.why : undefined;
    });
    const { namespace = '' } = cleaner.metadata;
    return [...lackOf(await missingOfLapse(meaning, resolved, namespace, options, review)), ...author];
  },
});
