// The result of an examination, and the arguments of every examination.

import type { Clock } from '@lapse/base/clock';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { Family } from '#controllers/family';
import type { Assembly } from '#manager/assemble';
import type { General } from '#manager/configuration/general';

/**
 * `problem`: it will not work. `warning`: it may not do what the user expects. `note`: could not be checked, or
 * information.
 */
export type Level = 'ok' | 'note' | 'warning' | 'problem';

export interface Finding {
  /** For example `rights`, `clock`. */
  readonly check: string;
  readonly level: Level;
  /** The controller, kind or object. */
  readonly about: string;
  readonly message: string;
  /** How to fix it. */
  readonly hint?: string;
}

export interface DoctorContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly general: General;
  readonly selected: readonly Family[];
  /** Assembled as for `lapse run`, but not started. */
  readonly assembly: Assembly;
}

export type Examination = (doctorContext: DoctorContext) => Promise<Finding[]>;

/** Undefined if it may not be read or is not served. */
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
