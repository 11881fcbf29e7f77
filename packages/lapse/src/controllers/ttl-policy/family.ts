// The controller family: two kinds, one configuration section, two controllers, two admission functions.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { ClusterTTLPolicyKind, TTLPolicyKind } from '#api/ttlPolicy';
import {
  AUTHORS,
  AUTHORS_SECTION,
  authorKeyRight,
  authorKeySecretSchema,
  createAuthorSeal,
} from '#authors/authorConfiguration';
import { IMPERSONATION_SCHEMA, localImpersonation, parseImpersonation } from '#authors/impersonation';
import { LIMITS, LIMITS_SECTION, parseLimitsSection } from '#limits/configuration';
import type { Family } from '../family.ts';
import { booleanSetting, concurrencySetting } from '../settings.ts';
import { policyAuthor, policyRules } from './admission.ts';
import { ttlPolicyControllers } from './controller.ts';
import { policyChecks } from './doctorChecks.ts';
import { forecastPolicies } from './forecast.ts';

const SECTION = 'ttlPolicy';

interface Section {
  readonly concurrency: number;
  readonly deletionEvents: boolean;
  readonly impersonation?: Json;
  readonly authorKeySecret: { readonly namespace: string; readonly name: string };
}

const SCHEMA: JsonObject = {
  type: 'object',
  default: {},
  properties: {
    concurrency: concurrencySetting(
      'Maximum number of concurrent reconciles, and thus of concurrent deletions.',
    ),
    deletionEvents: booleanSetting(
      true,
      'An Event Deleted for every object, with the policies, finish time, TTL and lag.',
    ),
    impersonation: IMPERSONATION_SCHEMA,
    authorKeySecret: authorKeySecretSchema(
      'The Secret with the key that signs who wrote a policy; made when it is not there.',
    ),
  },
};

export const ttlPolicyFamily: Family = {
  name: 'ttl-policy',
  description: 'Deletes objects of any kind by TTLPolicy and ClusterTTLPolicy.',
  defaultOn: true,
  saves: 'always',
  kinds: [TTLPolicyKind, ClusterTTLPolicyKind],
  gates: [],
  configuration: { [SECTION]: SCHEMA, [AUTHORS]: AUTHORS_SECTION, [LIMITS]: LIMITS_SECTION },
  create(services, configuration) {
    const section = configuration[SECTION] as unknown as Section;
    const { concurrency, deletionEvents, authorKeySecret } = section;
    const impersonation = parseImpersonation(section.impersonation, SECTION);
    const { client, actAs } = services;
    const seal = createAuthorSeal(services, authorKeySecret, configuration[AUTHORS]);
    const limits = parseLimitsSection(configuration[LIMITS]);
    const admission = { client, actAs, seal, impersonation };
    return {
      controllers: ttlPolicyControllers({
        services,
        seal,
        concurrency,
        deletionEvents,
        impersonation,
        limits,
      }),
      admission: [...(actAs === 'author' ? [policyAuthor(admission)] : []), policyRules(admission)],
      checks: policyChecks({ ...admission, asAuthor: services.impersonateAuthor !== undefined }),
      rights: [
        ...(actAs === 'author' ? [authorKeyRight(authorKeySecret)] : []),
        ...localImpersonation(impersonation),
        ...(services.trashRights ?? []),
      ],
    };
  },
  forecaster: { forecast: forecastPolicies },
};
