// LIST: selection, paging at one revision, and a response built from the stored bytes.

import { badRequest, expired } from '@lapse/kube/api/errors';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { apiVersionOf } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import { type ListOptions, parseListOptions } from '../http/query.ts';
import { encode, JSON_TYPE } from '../http/respond.ts';
import { type ContinueToken, readToken, writeToken } from '../list/continueToken.ts';
import { listRevision, tooLarge } from '../list/revision.ts';
import { isSelected, parseSelection, type Selection } from '../list/selection.ts';
import { transformedList } from '../representations/lists.ts';
import type { Stored } from '../store/stored.ts';
import type { View } from '../store/view.ts';
import { watch } from './watch.ts';

export async function list(call: Call, watchPath: boolean): Promise<HttpResponse> {
  const options = parseListOptions(call.query, watchPath);
  if (options.watch) return watch(call, options);
  return listResponse(call, selectPage(call, options));
}

export interface Page {
  readonly items: readonly Stored[];
  readonly meta: { resourceVersion: string; continue?: string; remainingItemCount?: number };
}

export function selectPage(call: Call, options: ListOptions): Page {
  const selection = parseSelection(call, options);
  const token = options.continue ? readToken(options.continue) : undefined;
  if (token && options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const view = openView(call, options, token);
  const after = token ? selection.prefix + token.after : '';
  const limit = isPaged(call, options, selection) ? options.limit : Infinity;
  const { items, last } = take(call, view, selection, { after, limit });
  if (last === undefined) return { items, meta: { resourceVersion: String(view.revision) } };
  return { items, meta: pageMeta(view, selection, last) };
}

/** resourceVersion=0 is answered from the cache, a name selects one object: neither has pages. */
function isPaged({ namespace, resource }: Call, options: ListOptions, { name }: Selection): boolean {
  if (options.limit <= 0) return false;
  if (name !== undefined && (namespace !== undefined || !resource.namespaced)) return false;
  return options.resourceVersion !== '0' || options.continue !== '';
}

function pageMeta(view: View, selection: Selection, last: string): Page['meta'] {
  return {
    resourceVersion: String(view.revision),
    continue: writeToken({ revision: view.revision, after: last.slice(selection.prefix.length) }),
    ...(selection.selective ? {} : { remainingItemCount: view.count(selection.prefix, last) }),
  };
}

/** Up to `limit` selected objects; `last` is the key to continue from when there are more. */
function take(call: Call, view: View, selection: Selection, page: { after: string; limit: number }) {
  const items: Stored[] = [];
  for (const stored of view.entries(selection.prefix, page.after)) {
    if (items.length === page.limit) return { items, last: items.at(-1)!.key };
    if (isSelected(call.resource, selection, stored)) items.push(stored);
  }
  return { items, last: undefined };
}

const OUTDATED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** The error contains a token to continue at the current revision. */
function outdated({ after }: ContinueToken) {
  const error = expired(OUTDATED);
  error.status.metadata.continue = writeToken({ revision: undefined, after });
  return error;
}

function openView(call: Call, options: ListOptions, token: ContinueToken | undefined): View {
  const { store } = call.core;
  const { storage } = call.resource;
  if (token?.revision !== undefined) {
    const view = store.view(storage, token.revision);
    if (!view) throw outdated(token);
    return view;
  }
  const wanted = listRevision(options.resourceVersion);
  if (wanted > store.revision) throw tooLarge(wanted, store.revision);
  const exact =
    options.resourceVersionMatch === 'Exact' || (options.limit > 0 && options.resourceVersionMatch === '');
  const view = store.view(storage, wanted > 0 && exact ? wanted : store.revision);
  if (!view) throw expired('The resourceVersion for the provided list is too old.');
  return view;
}

export function listResponse(call: Call, page: Page): HttpResponse {
  const { resource, negotiated } = call;
  const { representation, encoding } = negotiated;
  // Lists of custom resources always have a `continue` field.
  const meta: JsonObject = { ...(resource.custom ? { continue: '' } : {}), ...page.meta };
  const shown = () => page.items.map((s) => resource.codec.show(s));
  if (representation.as !== 'object') return transformedList(call, page, representation);
  const head = { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata: meta };
  if (encoding === 'yaml') {
    return encode(
      200,
      { ...head, items: shown().map((o) => itemOf(call, o as unknown as JsonObject)) },
      negotiated,
    );
  }
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body: listBytes(call, head, page.items) };
}

// Items of built-in lists have no kind and apiVersion; items of custom resources do.
function itemOf(call: Call, object: JsonObject): JsonObject {
  if (call.resource.custom) return object;
  const { kind: _k, apiVersion: _a, ...rest } = object;
  return rest;
}

// Size limit of a list in one buffer; larger lists are streamed in chunks of this size. A slow reader holds its
// unread data twice, in plain and encrypted form: many of them must not fill the memory.
const CHUNK = 1 << 17;

function listBytes(
  call: Call,
  head: JsonObject,
  items: readonly Stored[],
): Uint8Array | AsyncIterable<Uint8Array> {
  const open = Buffer.from(`${writeJson(head).slice(0, -1)},"items":[`);
  let size = 0;
  for (const stored of items) size += stored.size;
  if (size <= CHUNK) return Buffer.concat([open, ...itemParts(call, items, 0, items.length), CLOSE]);
  return streamItems(call, open, items);
}

const CLOSE = Buffer.from(']}');
const COMMA = Buffer.from(',');
const BRACE = Buffer.from('{');

function* itemParts(call: Call, items: readonly Stored[], from: number, to: number): Generator<Uint8Array> {
  const { resource } = call;
  const cut = resource.custom
    ? 0
    : `{"kind":"${resource.kind}","apiVersion":"${apiVersionOf(resource)}",`.length;
  for (let i = from; i < to; i++) {
    if (i > 0) yield COMMA;
    const stored = items[i]!;
    if (!resource.codec.verbatim(stored)) {
      yield Buffer.from(writeJson(itemOf(call, resource.codec.show(stored) as unknown as JsonObject)));
    } else {
      const [first, ...rest] = stored.parts;
      if (cut > 0) yield BRACE;
      yield cut > 0 ? first!.subarray(cut) : first!;
      yield* rest;
    }
  }
}

async function* streamItems(
  call: Call,
  open: Uint8Array,
  items: readonly Stored[],
): AsyncGenerator<Uint8Array> {
  yield open;
  let from = 0;
  while (from < items.length) {
    let to = from;
    for (let size = 0; to < items.length && size < CHUNK; to++) size += items[to]!.size;
    yield Buffer.concat([...itemParts(call, items, from, to)]);
    from = to;
  }
  yield CLOSE;
}
