// Collects the forecasts of the families. Each family receives its own sections of the configuration.

import type { Instant } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Family } from '#controllers/family';
import { type ForecastContext, type Snapshot, type Statement, Unreadable } from '#controllers/forecaster';
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

export interface Forecast {
  readonly family: string;
  readonly statement: Statement;
}

/** What is known about the deletion of other objects. */
export type KnownDeletions = Pick<ForecastContext, 'endOf' | 'mayEndAt'>;

export const NOTHING_KNOWN: KnownDeletions = { endOf: () => undefined };

/** `onUnread` is called with what a family could not read and therefore does not cover. */
export async function* collectForecasts(
  setting: Setting,
  families: readonly Family[],
  knownDeletions: KnownDeletions,
  onUnread: (what: string) => void,
): AsyncGenerator<Forecast> {
  for (const { name, forecaster, configuration } of families) {
    if (forecaster === undefined) continue;
    const forecastContext = forecastArguments(setting, Object.keys(configuration), knownDeletions);
    try {
      for await (const statement of forecaster.forecast(forecastContext)) yield { family: name, statement };
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
): ForecastContext {
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
