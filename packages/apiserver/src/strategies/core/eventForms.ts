// Converts Events between v1 (the stored form) and events.k8s.io/v1: renames fields and adds those that the Go struct
// of the target always writes.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Codec, Decoded } from '../../resources/resource.ts';
import { value } from '../values.ts';

/** Core name, name in events.k8s.io. */
const NAMES: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['reason', 'reason'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['series', 'series'],
  ['action', 'action'],
  ['related', 'related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
];

/** Fields that Go writes even when empty. */
const CORE_ALWAYS: Readonly<Record<string, Json>> = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};
const MODERN_ALWAYS: Readonly<Record<string, Json>> = {
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
  eventTime: null,
};

function renamed(event: KubeObject, toModern: boolean): JsonObject {
  const always = toModern ? MODERN_ALWAYS : CORE_ALWAYS;
  const out: JsonObject = {};
  for (const [core, modern] of NAMES) {
    const [from, to] = toModern ? [core, modern] : [modern, core];
    const v = value(event, from);
    if (v !== undefined && v !== '') out[to] = v;
    else if (Object.hasOwn(always, to)) out[to] = always[to];
  }
  return out;
}

const withoutGvk = ({ metadata }: KubeObject) => ({ metadata });

/** The stored form of an event of events.k8s.io. */
export const toCore = (event: KubeObject): KubeObject => ({
  kind: 'Event',
  apiVersion: 'v1',
  ...withoutGvk(event),
  ...renamed(event, false),
});

export const toModern = (event: KubeObject): KubeObject => ({
  kind: 'Event',
  apiVersion: 'events.k8s.io/v1',
  ...withoutGvk(event),
  ...renamed(event, true),
});

/** The codec of events.k8s.io, based on the codec of its struct; the core form is stored. */
export function modernEventCodec(own: Codec): Codec {
  const decodeProtobuf = own.decodeProtobuf?.bind(own);
  const convert = own.convert?.bind(own);
  return {
    decode: (body, notes): Decoded => own.decode(body, notes),
    ...(decodeProtobuf ? { decodeProtobuf } : {}),
    ...(convert ? { convert } : {}),
    verbatim: () => false,
    show: (stored) => toModern(stored.object),
    toStorage: toCore,
  };
}
