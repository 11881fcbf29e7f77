// WATCH: converts a byte stream to events. Any failure is the last event. Resuming, relisting and backoff are the
// responsibility of the reflector.

import type { Kind } from '#api/kind';
import type { KubeObject } from '#api/object';
import { acceptFor, type Caller, callOptions, errorFrom, isProtobuf, toRequest } from './call.ts';
import { FrameSplitter } from './frames.ts';
import { LineSplitter } from './lines.ts';
import { PartTooLong, type Splitter } from './partBuffer.ts';
import { collectionPath } from './paths.ts';
import type { SelectOptions } from './read.ts';
import { headerOf, TransportError, type TransportStream } from './transport.ts';
import { decodeEvent, decodeFrame, malformedEvent, type WatchEvent } from './watchEvents.ts';

export interface WatchOptions extends SelectOptions {
  /** Events after this version. Unset or "0": the watch starts with synthetic `added` events for existing objects. */
  readonly resourceVersion?: string;
  /** Request bookmarks. Without them a watch of a quiet kind cannot be resumed. Default: true. */
  readonly bookmarks?: boolean;
  /** Streaming list: existing objects first, then a bookmark with `initialEventsEnd`. */
  readonly sendInitialEvents?: boolean;
  /** The server ends the stream after this long. Default: chosen by the server. */
  readonly timeoutSeconds?: number;
  /** Maximum length of a line or frame. Default: 16 MiB (etcd limits objects to about 1.5 MiB). */
  readonly maxLineBytes?: number;
  /** Called when the server has accepted the watch. */
  readonly onOpen?: () => void;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Enough for any Status. The rest of a longer body is ignored. */
const MAX_ERROR_BYTES = 64 * 1024;

const errorEvent = (error: Error): WatchEvent<never> => ({ type: 'error', error });

async function open(caller: Caller, kind: Kind, options: WatchOptions): Promise<TransportStream> {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options;
  const streamingList = options.sendInitialEvents === true;
  const request = toRequest(caller, {
    method: 'GET',
    path: collectionPath(kind, namespace),
    accept: acceptFor(kind, false, options.shape),
    query: {
      watch: true,
      allowWatchBookmarks: options.bookmarks === false ? undefined : true,
      resourceVersion,
      labelSelector,
      fieldSelector,
      timeoutSeconds,
      sendInitialEvents: streamingList ? true : undefined,
      resourceVersionMatch: streamingList ? 'NotOlderThan' : undefined,
    },
    ...callOptions(options),
  });
  return caller.transport.stream(request);
}

async function readRefusal(caller: Caller, { status, headers, chunks }: TransportStream): Promise<Error> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ERROR_BYTES) break;
  }
  return errorFrom(caller, { status, headers, body: Buffer.concat(parts) });
}

/** The error if the response is not a watch stream; otherwise undefined. */
async function responseError(
  caller: Caller,
  stream: TransportStream,
  options: WatchOptions,
): Promise<Error | undefined> {
  if (stream.status !== 200) return readRefusal(caller, stream);
  if (options.shape !== undefined && isProtobuf(stream.headers)) return undefined;
  const type = headerOf(stream.headers, 'content-type');
  if (type === undefined || type.startsWith('application/json')) return undefined;
  const message = `watch: expected content type application/json, got ${type}`;
  return new TransportError('malformed', message, { sent: true });
}

interface Reading<T extends KubeObject> {
  readonly splitter: Splitter;
  readonly decode: (part: Buffer) => WatchEvent<T>;
}

function readingOf<T extends KubeObject>(
  stream: TransportStream,
  kind: Kind<T>,
  { shape, maxLineBytes = MAX_LINE_BYTES }: WatchOptions,
): Reading<T> {
  if (shape !== undefined && isProtobuf(stream.headers))
    return {
      splitter: new FrameSplitter(maxLineBytes),
      decode: (frame) => decodeFrame(frame, kind, shape),
    };
  return {
    splitter: new LineSplitter(maxLineBytes),
    decode: (line) => decodeEvent<T>(line.toString('utf8')),
  };
}

async function* readEvents<T extends KubeObject>(
  stream: TransportStream,
  kind: Kind<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { splitter, decode } = readingOf(stream, kind, options);
  for await (const chunk of stream.chunks) {
    for (const part of splitter.push(chunk)) {
      if (part.length === 0) continue;
      const event = decode(part);
      yield event;
      if (event.type === 'error') return;
    }
  }
  if (splitter.unfinished > 0 && options.signal?.aborted !== true)
    yield errorEvent(new TransportError('broken', 'watch: the stream ended inside an event', { sent: true }));
}

function asFailure(error: unknown): Error {
  if (error instanceof PartTooLong) {
    const event = malformedEvent('event exceeds the size limit', error.message);
    return event.type === 'error' ? event.error : error;
  }
  if (error instanceof Error) return error;
  return new TransportError('broken', `watch: ${String(error)}`, { sent: true, cause: error });
}

/**
 * Never throws. Ends without an error event if the server closes the stream between two lines or `signal` is aborted.
 * To stop, abort `signal` (at any time) or leave the loop (between events).
 */
export async function* watch<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  options: WatchOptions = {},
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const stopped = () => options.signal?.aborted === true;
  let stream: TransportStream | undefined;
  try {
    stream = await open(caller, kind, options);
    const error = await responseError(caller, stream, options);
    if (stopped()) return;
    if (error !== undefined) {
      yield errorEvent(error);
      return;
    }
    options.onOpen?.();
    yield* readEvents(stream, kind, options);
  } catch (error) {
    if (!stopped()) yield errorEvent(asFailure(error));
  } finally {
    stream?.close();
  }
}
