// Requests for snapshots: they complete by themselves (Ready, once and for all) and are deleted some time later, with
// the objects they created. No client can change that time.

import { type Instant, parseTime, plus, seconds } from '@lapse/base/instant';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import type { RequestObject } from 'lapse/api/storage/request';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { composeFamilies, findFamily } from '../scenarios/compose.ts';
import { capture, usualObjects } from '../scenarios/requests/kit.ts';
import type { Subject } from './subject.ts';

const FAMILIES = ['volume-capture', 'object-keeper', 'request-ttl'].map(findFamily);
const TTL = 20;

const completionOf = ({ status }: RequestObject): Instant | undefined =>
  status?.completionTimestamp === undefined ? undefined : parseTime(status.completionTimestamp);

export const captures: Subject = {
  name: 'volume-capture and request-ttl',
  kind: VolumeCaptureRequest,
  resource: 'volumecapturerequests',
  compose: composeFamilies({
    families: FAMILIES,
    controllers: [],
    configuration: { requestTTL: { ttl: `${TTL}s` } },
    gates: {},
  }),
  kinds: [...FAMILIES.flatMap(({ kinds }) => kinds), ...STOCK_SNAPSHOT_KINDS],
  simulatedControllers: () => simulatedControllersNamed(['owner-gc', 'csi-snapshotter']),
  objects: usualObjects(),
  create: (name) => capture(name),
  deadlineOf: (object) => {
    const completed = completionOf(object as RequestObject);
    return completed === undefined ? undefined : plus(completed, seconds(TTL));
  },
  isTerminal: (object) => completionOf(object as RequestObject) !== undefined,
};
