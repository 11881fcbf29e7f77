// WATCH: initial events on request, then every later change, each exactly once and in order.

import { plus, seconds } from '@lapse/base/instant';
import { expired } from '@lapse/kube/api/errors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import type { Call } from '../context.ts';
import { refuseYamlStream } from '../http/negotiate.ts';
import type { ListOptions } from '../http/query.ts';
import { tooLarge, watchRevision } from '../list/revision.ts';
import { isSelected, parseSelection, type Selection } from '../list/selection.ts';
import type { Change } from '../store/history.ts';
import { EventStream } from '../watch/eventStream.ts';
import { type EventEncoder, eventEncoder } from '../watch/watchEncoding.ts';

// As upstream: watches without a timeout end after 30 to 60 minutes, so that load spreads out.
const MIN_TIMEOUT_SECONDS = 1800;
const BOOKMARK_SECONDS = 60;
// A last bookmark this long before the end lets the client resume from a recent version.
const LAST_BOOKMARK_SECONDS = 2;

export async function watch(call: Call, options: ListOptions): Promise<HttpResponse> {
  const { core, resource } = call;
  const selection = parseSelection(call, options);
  const revision = watchRevision(options.resourceVersion);
  refuseYamlStream(call.negotiated);
  const encoder = eventEncoder(call);
  const stream = new EventStream(core.hub);
  const refusal = refuseStart(call, options, revision);
  if (refusal) {
    stream.push(errorEvent(refusal.status));
    stream.close();
    return streamResponse(stream);
  }
  const initial = options.sendInitialEvents ?? revision === 0;
  if (initial)
    stream.begin(initialEvents(call, { encoder, selection, bookmark: options.allowWatchBookmarks }));
  // A watch without initial events and without a version starts now.
  else if (revision > 0) stream.begin(missedEvents(call, { encoder, selection, revision }));
  const position = Math.max(core.store.revision, initial ? 0 : revision);
  const forward = (change: Change): void => {
    if (change.revision <= position) return;
    const event = encodeChange(call, { change, selection, encoder });
    if (event) stream.push(event);
  };
  const release = [
    core.hub.subscribe(resource.storage, forward),
    ...schedule(call, { stream, encoder, options, start: revision }),
  ];
  release.push(
    core.hub.track(() => stream.close()),
    core.hub.trackResource(resource.storage, () => stream.close()),
  );
  const onAbort = () => stream.abort();
  call.request.signal?.addEventListener('abort', onAbort);
  stream.onClose = () => {
    for (const undo of release) undo();
    call.request.signal?.removeEventListener('abort', onAbort);
  };
  if (call.request.signal?.aborted) stream.abort();
  return streamResponse(stream);
}

function streamResponse(stream: EventStream): HttpResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: stream };
}

/** Invalid start versions: the stream contains one ERROR event and ends. */
function refuseStart(call: Call, options: ListOptions, revision: number) {
  const { store } = call.core;
  if (options.sendInitialEvents && revision > store.revision) return tooLarge(revision, store.revision);
  const floor = store.floor(call.resource.storage);
  const fromHere = !options.sendInitialEvents && revision > 0;
  if (fromHere && revision < floor) return expired(`too old resource version: ${revision} (${floor})`);
  return undefined;
}

const errorEvent = (status: object) => Buffer.from(`${writeJson({ type: 'ERROR', object: status })}\n`);

interface Sending {
  readonly stream: EventStream;
  readonly encoder: EventEncoder;
}

interface Beginning {
  readonly encoder: EventEncoder;
  readonly selection: Selection;
}

/** The current objects: collected at once, encoded when they are read. */
function initialEvents(call: Call, b: Beginning & { readonly bookmark: boolean }): Iterable<Uint8Array> {
  const { store } = call.core;
  const { revision } = store;
  const present = [...store.view(call.resource.storage)!.entries(b.selection.prefix)];
  function* events(): Generator<Uint8Array> {
    for (const stored of present)
      if (isSelected(call.resource, b.selection, stored)) yield b.encoder.event('ADDED', stored);
    if (b.bookmark) yield b.encoder.bookmark(revision, true);
  }
  return events();
}

/** The changes since a version. */
function missedEvents(call: Call, b: Beginning & { readonly revision: number }): Iterable<Uint8Array> {
  const missed = [...call.core.store.changesAfter(call.resource.storage, b.revision)];
  function* events(): Generator<Uint8Array> {
    for (const change of missed) {
      const event = encodeChange(call, { change, ...b });
      if (event) yield event;
    }
  }
  return events();
}

/**
 * The event of a change for this selection, if any: an object that starts to match is ADDED, one that stops is
 * DELETED.
 */
function encodeChange(
  call: Call,
  w: { change: Change; selection: Selection; encoder: EventEncoder },
): Uint8Array | undefined {
  const { prev, next } = w.change;
  const was = prev !== undefined && isSelected(call.resource, w.selection, prev);
  const is = next !== undefined && isSelected(call.resource, w.selection, next);
  if (is) return w.encoder.event(was ? 'MODIFIED' : 'ADDED', next);
  return was ? w.encoder.deleted(w.change) : undefined;
}

/** Schedules the timeout and the bookmarks. */
function schedule(call: Call, w: Sending & { options: ListOptions; start: number }): (() => void)[] {
  const { clock, random, store } = call.core;
  const timeout = w.options.timeoutSeconds || MIN_TIMEOUT_SECONDS * (1 + random.next());
  const end = plus(clock.now(), seconds(timeout));
  const stopTimer = clock.wakeAt(end, () => w.stream.close());
  if (!w.options.allowWatchBookmarks) return [stopTimer];
  let sent = w.start;
  const send = () => {
    if (store.revision > sent) w.stream.push(w.encoder.bookmark(store.revision, false));
    sent = store.revision;
  };
  let cancel = () => {};
  const arm = () => {
    const regular = plus(clock.now(), seconds(BOOKMARK_SECONDS));
    const last = plus(end, seconds(-LAST_BOOKMARK_SECONDS));
    const at = last > clock.now() && last < regular ? last : regular;
    cancel = clock.wakeAt(at, () => {
      send();
      if (!w.stream.closed) arm();
    });
  };
  arm();
  return [stopTimer, () => cancel()];
}
