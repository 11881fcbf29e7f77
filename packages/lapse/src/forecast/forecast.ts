// Collects the forecasts of the families. Each family receives its own sections of the configuration.

import type { Instant } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Family } from '#controllers/family';
import { type Outlook, type Snapshot, type Statement, Unreadable } from '#controllers/foresight';
import type { General } from '#manager/configuration/general';
import { computeGates } from '#manager/selection';

export interface Setting {
  readonly snapshot: Snapshot;
  readonly now: Instant;
  readonly general: Pick<General, 'featureGates' | 'maxClockSkew' | 'actAs' | 'namespace'>;
  /** The whole configuration. */
  readonly document: JsonObject;
  /** All available families, for the feature gates. */
  readonly known: readonly Family[];
  readonly selected: readonly Family[];
}

export interface Foretold {
  readonly family: string;
  readonly statement: Statement;
}

/** What is known about the deletion of other objects. */
export type KnownDeletions = Pick<Outlook, 'endOf' | 'mayEndAt'>;

export const NOTHING_FOREKNOWN: KnownDeletions = { endOf: () => undefined };

/** `onUnread` is called with what a family could not read and therefore does not cover. */
export async function* foretell(
  setting: Setting,
  families: readonly Family[],
  knownDeletions: KnownDeletions,
  onUnread: (what: string) => void,
): AsyncGenerator<Foretold> {
  for (const { name, foresight, configuration } of families) {
    if (foresight === undefined) continue;
    const outlook = forecastArguments(setting, Object.keys(configuration), knownDeletions);
    try {
      for await (const statement of foresight.foresee(outlook)) yield { family: name, statement };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      onUnread(`${name}: ${error.message}`);
    }
  }
}

function forecastArguments(
  setting: Setting,
  sections: readonly string[],
  knownDeletions: KnownDeletions,
): Outlook {
  const { snapshot, now, general, document, known } = setting;
  const { maxClockSkew: tolerance, actAs, namespace, featureGates } = general;
  const gates = computeGates(known, featureGates);
  return {
    snapshot,
    now,
    tolerance,
    actAs,
    ...(namespace === undefined ? {} : { namespace }),
    isEnabled: (gate) => gates.get(gate) === true,
    configuration: Object.fromEntries(sections.map((name) => [name, document[name] as JsonObject])),
    ...knownDeletions,
  };
}
