// Tables of Events, in the core group and in events.k8s.io: the same objects with other field names.

import type { Instant } from '@lapse/base/instant';
import type { Json } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { at, get, int, nameOf, since, text, UNKNOWN } from './cells.ts';
import type { Cells } from './printer.ts';

export const eventCells: Cells = (event, now) => {
  const about = get(event, 'involvedObject') ?? get(event, 'regarding');
  const { first, last, times } = occurrences(event, now);
  return [
    last,
    text(get(event, 'type')),
    text(get(event, 'reason')),
    target(about),
    text(at(about, 'fieldPath')),
    source(event),
    (text(get(event, 'message')) || text(get(event, 'note'))).trim(),
    first,
    times,
    nameOf(event),
  ];
};

function target(about: Json | undefined): string {
  const kind = text(at(about, 'kind')).toLowerCase();
  const name = text(at(about, 'name'));
  return name === '' ? kind : `${kind}/${name}`;
}

function occurrences(event: KubeObject, now: Instant): { first: string; last: string; times: Json } {
  const age = (...path: string[]) => since(get(event, ...path), now);
  const known = (...ages: string[]) => ages.find((a) => a !== UNKNOWN) ?? UNKNOWN;
  const first = known(age('firstTimestamp'), age('deprecatedFirstTimestamp'), age('eventTime'));
  if (get(event, 'series') !== undefined) {
    return { first, last: age('series', 'lastObservedTime'), times: int(get(event, 'series', 'count')) };
  }
  const last = known(age('lastTimestamp'), age('deprecatedLastTimestamp'), first);
  return { first, last, times: int(get(event, 'count') ?? get(event, 'deprecatedCount')) || 1 };
}

/** `kubelet, node-1`. */
function source(event: KubeObject): string {
  const by = get(event, 'source') ?? get(event, 'deprecatedSource');
  const component =
    text(at(by, 'component')) ||
    text(get(event, 'reportingComponent')) ||
    text(get(event, 'reportingController'));
  const instance = text(at(by, 'host')) || text(get(event, 'reportingInstance'));
  return instance === '' ? component : `${component}, ${instance}`;
}
