// The section `trash` of the configuration.

import { parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';

export interface TrashSettings {
  readonly enabled: boolean;
  /** Default: the namespace of the process. */
  readonly namespace?: string;
  /** How long saved objects are kept. */
  readonly keep: Millis;
  readonly maxBytes: number;
  readonly onFailure: 'Hold' | 'Delete';
  /** Also save Jobs and Pods that are deleted because of their own TTL. */
  readonly jobs: boolean;
  /** Resources that are not saved: `configmaps`, `widgets.example.com`. */
  readonly exclude: readonly string[];
}

export const TRASH_SCHEMA: JsonObject = {
  type: 'object',
  default: {},
  properties: {
    enabled: {
      type: 'boolean',
      default: true,
      description: 'Save objects that policies and Cleaners delete, so that lapse undo can restore them.',
    },
    namespace: {
      type: 'string',
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      maxLength: 63,
      description:
        'The namespace of the Secrets with the saved objects. Unset: the namespace of the process.',
    },
    keep: {
      type: 'string',
      pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$',
      default: '168h',
      description: 'How long saved objects are kept.',
    },
    maxBytes: {
      type: 'string',
      pattern: '^[1-9][0-9]{0,11}(Ki|Mi|Gi)?$',
      default: '256Mi',
      description: 'Maximum size of all saved objects, compressed. The oldest are removed first.',
    },
    onFailure: {
      type: 'string',
      enum: ['Hold', 'Delete'],
      default: 'Hold',
      description: 'What happens to an object that cannot be saved: it is kept (Hold), or deleted (Delete).',
    },
    jobs: {
      type: 'boolean',
      default: false,
      description: 'Also save Jobs and Pods that are deleted because of their own TTL.',
    },
    exclude: {
      type: 'array',
      default: [],
      items: { type: 'string', minLength: 1 },
      description: 'Resources that are deleted without being saved: configmaps, widgets.example.com.',
    },
  },
};

const UNITS: Readonly<Record<string, number>> = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

const parseBytes = (text: string): number => {
  const [, digits = '0', unit = ''] = /^(\d+)(\w*)$/.exec(text) ?? [];
  return Number(digits) * (UNITS[unit] ?? 1);
};

/** `section` is valid and complete. */
export function readTrashSettings(section: JsonObject): TrashSettings {
  const { keep, maxBytes, ...rest } = section as unknown as Omit<TrashSettings, 'keep' | 'maxBytes'> & {
    readonly keep: string;
    readonly maxBytes: string;
  };
  return {
    ...rest,
    keep: millis(Number(parseGoDuration(keep) / 1_000_000n)),
    maxBytes: parseBytes(maxBytes),
  };
}
