// What an explanation of an object in a cluster is based on: the configuration, the kinds and the current time.

import { realClock } from '@lapse/base/clock';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { FAMILIES } from '#controllers/registry';
import type { ExplainOptions } from '#forecast/explain/explainObject';
import { readingFrom } from '#forecast/snapshot';
import { readGeneral } from '#manager/configuration/general';
import { selectFamilies } from '#manager/selection';

export function explainOptionsOf(
  client: Client,
  served: readonly ServedKind[],
  document: JsonObject,
): Omit<ExplainOptions, 'cascade'> {
  const general = readGeneral(document);
  return {
    client,
    served,
    read: readingFrom(client),
    now: realClock.now(),
    general,
    document,
    known: FAMILIES,
    selected: selectFamilies(FAMILIES, general.controllers ?? ['*']),
  };
}
