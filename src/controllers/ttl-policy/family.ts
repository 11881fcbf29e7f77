// The family as commands see it: two kinds, one section of configuration, two controllers, two admission functions.

import type { JsonObject } from '#api/json';
import { ClusterTTLPolicyKind, TTLPolicyKind } from '#api/kinds/ttlPolicy';
import { AuthorSeal } from '#lifecycle/rightsAuthor';
import type { Family } from '../family.ts';
import { policyAuthor, policyRules } from './admission.ts';
import { ttlPolicyControllers } from './controller.ts';
import { foreseePolicies } from './foresee.ts';

const SECTION = 'ttlPolicy';

interface Section {
  readonly concurrency: number;
  readonly deletionEvents: boolean;
  readonly authorKeySecret: { readonly namespace: string; readonly name: string };
}

const SCHEMA: JsonObject = {
  type: 'object',
  default: {},
  properties: {
    concurrency: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 32,
      description: 'Objects looked at, and so deletions under way, at once.',
    },
    deletionEvents: {
      type: 'boolean',
      default: true,
      description: 'An Event Deleted for every object, with the policies, finish time, TTL and lag.',
    },
    authorKeySecret: {
      type: 'object',
      default: {},
      description: 'The Secret with the key that signs who wrote a policy; made when it is not there.',
      properties: {
        namespace: { type: 'string', minLength: 1, default: 'lapse-system' },
        name: { type: 'string', minLength: 1, default: 'lapse-author-key' },
      },
    },
  },
};

export const ttlPolicyFamily: Family = {
  name: 'ttl-policy',
  description: 'Ends objects of any kind by TTLPolicy and ClusterTTLPolicy.',
  defaultOn: true,
  kinds: [TTLPolicyKind, ClusterTTLPolicyKind],
  gates: [],
  configuration: { [SECTION]: SCHEMA },
  create(services, configuration) {
    const { concurrency, deletionEvents, authorKeySecret } = configuration[SECTION] as unknown as Section;
    const { client, random, actAs } = services;
    const seal = new AuthorSeal({ client, random, secret: authorKeySecret });
    const admission = { client, actAs, seal };
    return {
      controllers: ttlPolicyControllers({ services, seal, concurrency, deletionEvents }),
      admission: [...(actAs === 'author' ? [policyAuthor(admission)] : []), policyRules(admission)],
      rights:
        actAs === 'author'
          ? [
              {
                namespace: authorKeySecret.namespace,
                group: '',
                resource: 'secrets',
                verbs: ['create', 'get'],
                names: [authorKeySecret.name],
              },
            ]
          : [],
    };
  },
  foresight: { foresee: foreseePolicies },
};
