// Encodes watch events. All watchers of a resource share the plain JSON event of a change. Tables and partial
// metadata are encoded per watcher, since the first event differs.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { apiVersionOf, asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import { partialMetadata } from '../representations/partial.ts';
import { includeObject, tableOf } from '../representations/table.ts';
import type { Codec } from '../resources/resource.ts';
import type { Change } from '../store/history.ts';
import { Stored } from '../store/stored.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface EventEncoder {
  event(type: EventType, stored: Stored): Uint8Array;
  /** DELETED: the previous state with the revision of the deletion. */
  deleted(change: Change): Uint8Array;
  bookmark(revision: number, initialEnd: boolean): Uint8Array;
}

export function eventEncoder(call: Call): EventEncoder {
  const { representation } = call.negotiated;
  const { codec } = call.resource;
  const empty = (revision: number, initialEnd: boolean) => bookmarkObject(call, revision, initialEnd);
  switch (representation.as) {
    case 'object':
      return { ...plainEncoder(call), bookmark: (r, end) => wrap('BOOKMARK', asJson(empty(r, end))) };
    case 'PartialObjectMetadata':
      return transforming((object) => asJson(partialMetadata(object, representation.version)), codec, empty);
    case 'Table': {
      includeObject(call);
      let first = true;
      const table = (object: KubeObject): JsonObject => {
        const meta = { resourceVersion: object.metadata.resourceVersion ?? '' };
        const value = tableOf(call, [object], { version: representation.version, meta, columns: first });
        first = false;
        return value;
      };
      return transforming(table, codec, empty);
    }
  }
}

function transforming(
  transform: (object: KubeObject) => JsonObject,
  codec: Codec,
  empty: (revision: number, initialEnd: boolean) => KubeObject,
): EventEncoder {
  const shown = (stored: Stored) => codec.show(stored);
  return {
    event: (type, stored) => wrap(type, transform(shown(stored))),
    deleted: (change) => wrap('DELETED', transform(shown(deletedState(change, codec)))),
    bookmark: (revision, end) => wrap('BOOKMARK', transform(empty(revision, end))),
  };
}

const wrap = (type: string, object: Json) => Buffer.from(`${writeJson({ type, object })}\n`);

function plainEncoder(call: Call): Pick<EventEncoder, 'event' | 'deleted'> {
  const { codec } = call.resource;
  const { hub } = call.core;
  const event = (type: EventType, stored: Stored): Uint8Array => {
    if (!codec.verbatim(stored)) return wrap(type, asJson(codec.show(stored)));
    return hub.shared(stored, type, () => Buffer.concat([HEADS[type], ...stored.parts, TAIL]));
  };
  return { event, deleted: (change) => event('DELETED', deletedState(change, codec)) };
}

const headOf = (type: EventType) => Buffer.from(`{"type":"${type}","object":`);
const HEADS: Record<EventType, Uint8Array> = {
  ADDED: headOf('ADDED'),
  MODIFIED: headOf('MODIFIED'),
  DELETED: headOf('DELETED'),
};
const TAIL = Buffer.from('}\n');

// All watchers encode one change before the next, so only the state of the last deletion is cached.
let lastDeleted: { readonly change: Change; readonly state: Stored } | undefined;

/** The deleted object as the codec shows it. Shared by all watchers that read the stored bytes. */
function deletedState(change: Change, codec: Codec): Stored {
  const prev = change.prev!;
  if (!codec.verbatim(prev)) return lastState(change, codec.show(prev));
  if (lastDeleted?.change !== change) lastDeleted = { change, state: lastState(change, prev.object) };
  return lastDeleted.state;
}

function lastState(change: Change, object: KubeObject): Stored {
  const resourceVersion = String(change.revision);
  const last = { ...object, metadata: { ...object.metadata, resourceVersion } };
  return new Stored(change.key, change.revision, Buffer.from(writeJson(asJson(last))), last);
}

function bookmarkObject(call: Call, revision: number, initialEnd: boolean): KubeObject {
  const { resource } = call;
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: String(revision), ...(initialEnd ? { annotations } : {}) },
  };
}
