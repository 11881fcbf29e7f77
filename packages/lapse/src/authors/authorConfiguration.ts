// The configuration of author signatures, shared by all controllers that act for authors.

import type { Clock } from '@lapse/base/clock';
import { readDuration } from '@lapse/base/duration';
import type { Instant } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import type { Account } from './accessReview.ts';
import { AuthorSeal } from './authorSeal.ts';

export const AUTHORS = 'authors';

export const AUTHORS_SECTION: JsonObject = {
  type: 'object',
  default: {},
  description: 'Signatures of the authors of policies, Cleaners and requests.',
  properties: {
    sealLifetime: {
      type: 'string',
      pattern: '^([0-9]+(\\.[0-9]+)?(h|m|s))+$|^0$',
      default: '720h',
      description:
        'How long the signature of a user is valid. A user who is removed from a group keeps the rights of the group for this long. 0: signatures do not expire. Signatures of service accounts never do.',
    },
  },
};

/** The field `authorKeySecret` of a configuration section. */
export const authorKeySecretSchema = (description: string): JsonObject => ({
  type: 'object',
  default: {},
  description,
  properties: {
    namespace: { type: 'string', minLength: 1, default: 'lapse-system' },
    name: { type: 'string', minLength: 1, default: 'lapse-author-key' },
  },
});

/** The RBAC rule for the Secret. The controller creates it if it does not exist. */
export const authorKeyRight = ({ namespace, name }: Account) => ({
  namespace,
  group: '',
  resource: 'secrets',
  verbs: ['create', 'get'],
  names: [name],
});

export interface AuthorServices {
  readonly client: Pick<Client, 'get' | 'create'>;
  readonly random: Random;
  readonly clock: Clock;
  readonly guard: { now(): Instant };
}

/** `section`: the configuration section `authors`, with defaults applied. */
export function createAuthorSeal(
  { client, random, clock, guard }: AuthorServices,
  secret: Account,
  section: JsonObject | undefined,
): AuthorSeal {
  const text = String(section?.['sealLifetime'] ?? '720h');
  const lifetime = readDuration(text);
  if (lifetime.kind === 'invalid') throw new Error(`authors.sealLifetime: ${lifetime.error}`);
  return new AuthorSeal({
    client,
    random,
    clock,
    secret,
    now: () => guard.now(),
    ...(lifetime.length > 0 ? { lifetime: lifetime.length } : {}),
  });
}
