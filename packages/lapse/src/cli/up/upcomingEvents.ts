// The next events by the forecasts of the families: when each object is deleted or changes. The waits of reconciles
// are not used for this, because many only evaluate again.

import { hours, type Instant, plus } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import { refText } from '@lapse/simulation/refs';
import type { Family } from '#controllers/family';
import { Owners } from '#forecast/cascade/read';
import { makePlan } from '#forecast/makePlan';
import { createSnapshot, readingFrom } from '#forecast/snapshot';
import type { General } from '#manager/configuration/general';

/** A deletion, or a change through time alone. */
export interface Ahead {
  readonly family: string;
  readonly ref: string;
  readonly at: Instant;
}

export interface UpcomingOptions {
  readonly client: Client;
  readonly now: Instant;
  readonly general: General;
  readonly document: JsonObject;
  readonly known: readonly Family[];
  readonly selected: readonly Family[];
}

/** Longer than any TTL in the examples. */
const HORIZON = hours(24 * 366 * 10);

/** In the order of time. Each object once, by the earliest rule. */
export async function findUpcomingEvents({ client, now, ...asking }: UpcomingOptions): Promise<Ahead[]> {
  const served = await client.discovery.all();
  const owners = new Owners(served);
  const { deletions, changes = [] } = await makePlan({
    ...asking,
    now,
    until: plus(now, HORIZON),
    cluster: 'lapse up',
    snapshot: createSnapshot(served, readingFrom(client, { witness: owners })),
    owners,
  });
  return [...deletions, ...changes]
    .map(({ family, object, at }) => ({ family, ref: refText(object.kind, object), at }))
    .sort((a, b) => a.at - b.at);
}

/** Families with a forecast. For others only the waits of their reconciles are known. */
export const familiesWithForecast = (families: readonly Family[]): ReadonlySet<string> =>
  new Set(families.flatMap(({ name, forecaster }) => (forecaster === undefined ? [] : [name])));
