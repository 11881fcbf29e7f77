// Lists as Table or PartialObjectMetadataList. Long ones are streamed, so that 100,000 rows neither fill the memory
// nor block the event loop.

import { nextTurn } from '@lapse/base/turn';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import type { Representation } from '../http/negotiate.ts';
import { encode, JSON_TYPE } from '../http/respond.ts';
import type { Page } from '../list/page.ts';
import type { Stored } from '../store/stored.ts';
import { checkPartialFits, partialMetadata } from './partial.ts';
import { rowMaker, tableHead } from './table.ts';

interface Shape {
  readonly head: JsonObject;
  /** The field that holds the list. */
  readonly field: 'rows' | 'items';
  readonly item: (object: KubeObject) => JsonObject;
  /** An empty list is null. */
  readonly nullable: boolean;
}

export function transformedList(
  call: Call,
  page: Page,
  representation: Exclude<Representation, { as: 'object' }>,
): HttpResponse {
  const shape =
    representation.as === 'Table'
      ? tableShape(call, page, representation.version)
      : partialShape(call, page, representation);
  const make = (stored: Stored) => shape.item(call.resource.codec.show(stored));
  const none = shape.nullable && page.items.length === 0;
  if (call.negotiated.encoding === 'yaml' || none) {
    const items = none ? null : page.items.map(make);
    return encode(200, { ...shape.head, [shape.field]: items }, call.negotiated);
  }
  const open = `${writeJson(shape.head).slice(0, -1)},"${shape.field}":[`;
  const body =
    page.items.length <= CHUNK
      ? Buffer.from(`${open}${page.items.map((stored) => writeJson(make(stored))).join(',')}]}`)
      : streamItems(open, page.items, make);
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body };
}

function tableShape(call: Call, page: Page, version: string): Shape {
  const head = tableHead(call.resource.printer, { version, meta: { ...page.meta } });
  const nullable = call.resource.printer.bare === true;
  return { head, field: 'rows', item: rowMaker(call, version), nullable };
}

function partialShape(
  call: Call,
  page: Page,
  representation: Extract<Representation, { as: 'PartialObjectMetadata' }>,
): Shape {
  checkPartialFits(call.resource, representation, true);
  const { version } = representation;
  const head = {
    kind: 'PartialObjectMetadataList',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: { ...page.meta },
  };
  const item = (object: KubeObject) => asJson(partialMetadata(object, version));
  return { head, field: 'items', item, nullable: true };
}

// Rows per chunk.
const CHUNK = 500;

async function* streamItems(
  open: string,
  items: readonly Stored[],
  make: (stored: Stored) => JsonObject,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(open);
  for (let from = 0; from < items.length; from += CHUNK) {
    const texts = items.slice(from, from + CHUNK).map((stored) => writeJson(make(stored)));
    yield Buffer.from((from > 0 ? ',' : '') + texts.join(','));
    await nextTurn();
  }
  yield Buffer.from(']}');
}
