// Registers the Cleaner family: one kind, one section of the configuration, one controller, two admission functions.

import { parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { CleanerDefinition } from '#api/cleaner';
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
import { cleanerAuthor, cleanerRules } from './admission.ts';
import { cleanerCheck } from './check.ts';
import { cleanerController, createActors } from './controller.ts';
import { forecastCleaners } from './forecast.ts';
import type { LimitRules } from './limit.ts';

const SECTION = 'cleaner';

interface Section {
  readonly concurrency: number;
  readonly maxSleep?: string;
  readonly defaultServiceAccount?: string;
  readonly impersonation?: Json;
  readonly requireAuthor: boolean;
  readonly bindSecretData: boolean;
  readonly helm: {
    readonly hooks: 'run' | 'skip';
    readonly hookTimeout: string;
    readonly purgeIncomplete: boolean;
  };
  readonly authorKeySecret: { readonly namespace: string; readonly name: string };
}

const boolean = (description: string, value: boolean): JsonObject => ({
  type: 'boolean',
  default: value,
  description,
});
const DURATION = '^([0-9]+(\\.[0-9]+)?(h|m|s|ms))+$|^0$';

const SCHEMA: JsonObject = {
  type: 'object',
  default: {},
  properties: {
    concurrency: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 8,
      description: 'Maximum number of concurrent reconciles of Cleaners.',
    },
    maxSleep: {
      type: 'string',
      pattern: DURATION,
      description:
        'The longest time until the next evaluation where retry.monotonic found when conditions become true. Unset: no limit.',
    },
    defaultServiceAccount: {
      type: 'string',
      minLength: 1,
      description: "The account of a Cleaner's namespace whose rights are used where the Cleaner names none.",
    },
    impersonation: IMPERSONATION_SCHEMA,
    requireAuthor: boolean(
      'An account that a Cleaner names counts only if its author was seen by admission and may act as it.',
      true,
    ),
    bindSecretData: boolean('Conditions may see the data of Secrets.', false),
    helm: {
      type: 'object',
      default: {},
      properties: {
        hooks: {
          type: 'string',
          enum: ['run', 'skip'],
          default: 'run',
          description:
            'Whether pre-delete and post-delete hooks are run, as helm uninstall does. A hook that may not be created stops the uninstall before anything is deleted.',
        },
        hookTimeout: { type: 'string', pattern: DURATION, default: '5m', description: 'For one hook.' },
        purgeIncomplete: boolean(
          'The records of a release are purged even if objects are left that the release does not own or that the Cleaner may not delete.',
          false,
        ),
      },
    },
    authorKeySecret: authorKeySecretSchema(
      'The Secret with the key that signs who wrote a Cleaner and what it decided to delete; created if it does not exist.',
    ),
  },
};

const readMillis = (text: string): Millis => millis(Number(parseGoDuration(text) / 1_000_000n));

const accountOf = ({ defaultServiceAccount: name }: Section) =>
  name === undefined ? {} : { defaultAccount: name };

function limitRules(section: JsonObject | undefined, actAs: 'author' | 'controller'): LimitRules {
  const { maxDeletions } = parseLimitsSection(section).limit ?? {};
  return { isRecorded: actAs === 'author', ...(maxDeletions === undefined ? {} : { maxDeletions }) };
}

export const cleanerFamily: Family = {
  name: 'cleaner',
  description: 'Deletes targets and Helm releases when the conditions of a Cleaner are true.',
  defaultOn: true,
  saves: 'always',
  kinds: [CleanerDefinition],
  gates: [],
  configuration: { [SECTION]: SCHEMA, [AUTHORS]: AUTHORS_SECTION, [LIMITS]: LIMITS_SECTION },
  create(services, configuration) {
    const section = configuration[SECTION] as unknown as Section;
    const { client, actAs } = services;
    const seal = createAuthorSeal(services, section.authorKeySecret, configuration[AUTHORS]);
    const maxSleep = readMillis(section.maxSleep ?? '0');
    const account = accountOf(section);
    const impersonation = parseImpersonation(section.impersonation, SECTION);
    const options = {
      services,
      seal,
      concurrency: section.concurrency,
      requireAuthor: section.requireAuthor,
      impersonation,
      bindSecretData: section.bindSecretData,
      helmHooks: section.helm.hooks,
      helmHookTimeout: readMillis(section.helm.hookTimeout),
      helmPurgeIncomplete: section.helm.purgeIncomplete,
      limits: limitRules(configuration[LIMITS], actAs),
      ...account,
      ...(maxSleep > 0 ? { maxSleep } : {}),
    };
    const asAuthor = services.impersonateAuthor !== undefined;
    const admission = { client, actAs, seal, impersonation, asAuthor, ...account };
    return {
      controllers: [cleanerController(options) as ControllerDefinition],
      checks: [cleanerCheck(admission, createActors(options))],
      admission: [...(actAs === 'author' ? [cleanerAuthor(admission)] : []), cleanerRules(admission)],
      // Needed with every `actAs`: the key authenticates decision records too.
      rights: [
        authorKeyRight(section.authorKeySecret),
        ...localImpersonation(impersonation),
        ...(services.trashRights ?? []),
      ],
    };
  },
  forecaster: {
    forecast(forecastContext) {
      const section = forecastContext.configuration[SECTION] as unknown as Section;
      return forecastCleaners(forecastContext, {
        bindSecretData: section.bindSecretData,
        helmPurgeIncomplete: section.helm.purgeIncomplete,
        requireAuthor: section.requireAuthor,
        limits: limitRules(forecastContext.configuration[LIMITS], forecastContext.actAs),
        ...accountOf(section),
      });
    },
  },
};
