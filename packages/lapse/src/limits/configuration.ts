// The section `limits` of the configuration, shared by policies and Cleaners.

import { requireDuration } from '@lapse/base/duration';
import type { JsonObject } from '@lapse/kube/api/json';
import { MAX_DELETIONS } from '#api/limits';
import type { Limit } from './limit.ts';

export const LIMITS = 'limits';

export const FIRST_ACTIVATION = 500;

export const LIMITS_SECTION: JsonObject = {
  type: 'object',
  default: {},
  description:
    'Limits that no policy or Cleaner can exceed. A rule that reaches one stops until `lapse approve`.',
  properties: {
    firstActivation: {
      type: 'integer',
      minimum: 0,
      default: FIRST_ACTIVATION,
      description:
        'A policy that starts to delete, or whose spec changed, stops before its first deletion if more objects than this are due at once. 0: off.',
    },
    maxDeletions: {
      ...MAX_DELETIONS,
      description: 'Deletions of each policy per window, and of each Cleaner. Default: no limit.',
    },
    maxPercent: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      description:
        'Deletions of each policy per window, in percent of the objects that it selects when the window begins. Default: no limit.',
    },
    per: {
      type: 'string',
      pattern: '^([0-9]+(\\.[0-9]+)?(h|m|s))+$',
      default: '1h',
      description: 'The length of a window.',
    },
  },
};

export interface LimitsConfiguration {
  /** 0: off. */
  readonly firstActivation: number;
  /** For every rule. */
  readonly limit?: Limit;
}

/** `section`: with defaults applied. */
export function parseLimitsSection(section: JsonObject | undefined): LimitsConfiguration {
  const {
    firstActivation = FIRST_ACTIVATION,
    maxDeletions,
    maxPercent,
    per = '1h',
  } = (section ?? {}) as {
    firstActivation?: number;
    maxDeletions?: number;
    maxPercent?: number;
    per?: string;
  };
  const length = requireDuration('limits.per', per);
  if (maxDeletions === undefined && maxPercent === undefined) return { firstActivation };
  return {
    firstActivation,
    limit: {
      from: 'configuration',
      ...(maxDeletions === undefined ? {} : { maxDeletions }),
      ...(maxPercent === undefined ? {} : { maxPercent }),
      per: length,
      text: per,
    },
  };
}
