// LIST: a page of objects as a response built from the stored bytes.

import type { HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { apiVersionOf } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import { parseListOptions } from '../http/query.ts';
import { encode, JSON_TYPE } from '../http/respond.ts';
import { type Page, selectPage } from '../list/page.ts';
import { transformedList } from '../representations/lists.ts';
import type { Stored } from '../store/stored.ts';
import { watch } from './watch.ts';

export async function list(call: Call, watchPath: boolean): Promise<HttpResponse> {
  const options = parseListOptions(call.query, watchPath);
  if (options.watch) return watch(call, options);
  return listResponse(call, selectPage(call, options));
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
