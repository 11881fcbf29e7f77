// Builds an events.k8s.io/v1 Event. Pure. The result passes the API server's validation for any input.

import { formatMicroTime, type Instant } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { defineKind } from '@lapse/kube/api/kind';
import { checkDns1123Subdomain } from '@lapse/kube/api/names';
import type { KubeObject } from '@lapse/kube/api/object';
import type { EventNote, RegardingObject } from './types.ts';

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}

export interface KubeEvent extends KubeObject {
  eventTime: string;
  reportingController: string;
  reportingInstance: string;
  action: string;
  reason: string;
  regarding: ObjectReference;
  related?: ObjectReference;
  note: string;
  type: string;
  series?: EventSeries;
}

export const KubeEvent = defineKind<KubeEvent>({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  resource: 'events',
  namespaced: true,
});

const MAX_WORD = 128;
const MAX_NOTE_BYTES = 1024;
const MAX_NAME = 253;
/** A dot and sixteen hexadecimal digits. */
const SUFFIX = 17;

export interface EventContext {
  readonly now: Instant;
  readonly random: Random;
  /** A qualified name: `lapse.dev/ttl-after-finished`. */
  readonly controller: string;
  readonly instance: string;
}

export function buildEvent(regarding: RegardingObject, event: EventNote, context: EventContext): KubeEvent {
  const { now, controller, instance } = context;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: {
      name: buildName(regarding.metadata.name ?? '', context),
      namespace: regarding.metadata.namespace || 'default',
    },
    eventTime: formatMicroTime(now),
    reportingController: controller,
    reportingInstance: instance.slice(0, MAX_WORD) || 'unknown',
    action: event.action.slice(0, MAX_WORD) || 'Unknown',
    reason: event.reason.slice(0, MAX_WORD) || 'Unknown',
    regarding: referenceTo(regarding),
    ...(event.related === undefined ? {} : { related: referenceTo(event.related) }),
    note: cutToBytes(event.note, MAX_NOTE_BYTES),
    type: event.type,
  };
}

/** `<object>.<nanoseconds in hexadecimal>`, as client-go does. The digits below a millisecond are random. */
function buildName(object: string, { now, random }: EventContext): string {
  const nanos = BigInt(Math.floor(now)) * 1_000_000n + BigInt(Math.floor(random.next() * 1e6));
  const base = object.slice(0, MAX_NAME - SUFFIX).replace(/[.-]+$/, '');
  const legal = base !== '' && checkDns1123Subdomain(base).length === 0;
  return `${legal ? base : 'object'}.${nanos.toString(16)}`;
}

function referenceTo({ apiVersion, kind, metadata }: RegardingObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** Cuts between characters, not inside a multi-byte character. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - 3;
  // 10xxxxxx is a UTF-8 continuation byte.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}…`;
}
