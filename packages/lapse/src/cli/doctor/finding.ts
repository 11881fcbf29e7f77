// What the doctor says about one thing, and what every examination is given.

import type { Clock } from '@lapse/base/clock';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { Family } from '#controllers/family';
import type { Assembly } from '#manager/assemble';
import type { General } from '#manager/configuration/general';

/** `problem`: it will not work. `warning`: it may not do what you expect. `note`: could not be seen, or good to know. */
export type Level = 'ok' | 'note' | 'warning' | 'problem';

export interface Finding {
  /** `rights`, `clock`, … */
  readonly check: string;
  readonly level: Level;
  /** Which controller, kind or object. */
  readonly about: string;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

export interface Patient {
  readonly client: Client;
  readonly clock: Clock;
  readonly general: General;
  readonly selected: readonly Family[];
  /** Put together as for running, and not started. */
  readonly assembly: Assembly;
}

export type Examination = (patient: Patient) => Promise<Finding[]>;

/** Undefined when it may not be read, or is not served. */
export async function listIfAllowed<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  namespace?: string,
): Promise<readonly T[] | undefined> {
  try {
    return (await client.list(kind, namespace === undefined ? {} : { namespace })).items;
  } catch (cause) {
    if (cause instanceof ApiError && (cause.code === 403 || cause.code === 404)) return undefined;
    throw cause;
  }
}
