// The checks of `lapse doctor` for one Cleaner: its spec, its author, and rights that Lapse itself lacks.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { Cleaner } from '#api/cleaner';
import { checkAuthor, lackOf, type ObjectCheck } from '../objectCheck.ts';
import { sortKinds } from './kinds.ts';
import { type Actors, missingOfLapse, type OwnRightsOptions } from './rights.ts';
import { understand } from './spec.ts';

export const cleanerCheck = (
  options: OwnRightsOptions & { readonly client: Pick<Client, 'discovery'> },
  actors: Actors,
): ObjectCheck => ({
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
      const actor = await actors.of(cleaner, new AbortController().signal);
      return actor.kind === 'noActor' ? actor.why : undefined;
    });
    const { namespace = '' } = cleaner.metadata;
    return [...lackOf(await missingOfLapse(meaning, resolved, namespace, options, review)), ...author];
  },
});
