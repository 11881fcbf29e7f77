// Decodes one line or frame of a watch stream into an event.

import { getOwn, isObject, type Json, type JsonObject } from '#api/json';
import type { Kind } from '#api/kind';
import { asJson, asObject, type KubeObject } from '#api/object';
import type { Shape } from '#api/shape';
import { parseText } from './codec.ts';
import { apiErrorFromStatus } from './errors.ts';
import { decodeWireEvent, named } from './protobuf/envelope.ts';
import { TransportError } from './transport.ts';

/**
 * `error` is always the last event: an ApiError if the server sent one (410: list again), a TransportError if the
 * stream failed or contained an invalid event. A stream that ends normally has no error event.
 */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: T }
  | {
      readonly type: 'bookmark';
      readonly resourceVersion: string;
      /** All objects that existed when a streaming list began have been sent. */
      readonly initialEventsEnd: boolean;
    }
  | { readonly type: 'error'; readonly error: Error };

const CHANGES = { ADDED: 'added', MODIFIED: 'modified', DELETED: 'deleted' } as const;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const MAX_QUOTED = 200;

export function malformedEvent(problem: string, line: string): WatchEvent<never> {
  const quoted = line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line;
  const error = new TransportError('malformed', `watch: ${problem}: ${quoted}`, { sent: true });
  return { type: 'error', error };
}

function bookmarkOf(object: JsonObject, line: string): WatchEvent<never> {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const { resourceVersion, annotations } = metadata;
  if (typeof resourceVersion !== 'string' || resourceVersion === '')
    return malformedEvent('a bookmark without resourceVersion', line);
  const end = isObject(annotations) && getOwn(annotations, INITIAL_EVENTS_END) === 'true';
  return { type: 'bookmark', resourceVersion, initialEventsEnd: end };
}

function changeOf<T extends KubeObject>(
  type: 'added' | 'modified' | 'deleted',
  object: JsonObject,
  line: string,
): WatchEvent<T> {
  const metadata = object.metadata;
  if (typeof object.kind !== 'string' || typeof object.apiVersion !== 'string' || !isObject(metadata))
    return malformedEvent('an event whose object has no kind, apiVersion or metadata', line);
  if (typeof metadata.name !== 'string' || typeof metadata.resourceVersion !== 'string')
    return malformedEvent('an event whose object has no name or resourceVersion', line);
  return { type, object: asObject(object) as T };
}

export function decodeEvent<T extends KubeObject>(line: string): WatchEvent<T> {
  let json: Json;
  try {
    json = parseText(line);
  } catch (cause) {
    return malformedEvent(cause instanceof SyntaxError ? `not JSON (${cause.message})` : String(cause), line);
  }
  if (!isObject(json) || typeof json.type !== 'string' || !isObject(json.object))
    return malformedEvent('not an event', line);
  return eventOf(json.type, json.object, line);
}

/** `line`: quoted in the error if it is not an event. */
function eventOf<T extends KubeObject>(type: string, object: JsonObject, line: string): WatchEvent<T> {
  if (type === 'ERROR') return { type: 'error', error: apiErrorFromStatus(object) };
  if (type === 'BOOKMARK') return bookmarkOf(object, line);
  if (!Object.hasOwn(CHANGES, type)) return malformedEvent('an event of an unknown type', line);
  return changeOf(CHANGES[type as keyof typeof CHANGES], object, line);
}

/** Decodes a frame of a protobuf stream. */
export function decodeFrame<T extends KubeObject>(frame: Buffer, kind: Kind<T>, shape: Shape): WatchEvent<T> {
  try {
    const { type, object } = decodeWireEvent(frame, kind, shape);
    return eventOf<T>(type, type === 'ERROR' ? object : asJson(named(kind, object)), type);
  } catch (cause) {
    return malformedEvent('not an event', cause instanceof Error ? cause.message : String(cause));
  }
}
