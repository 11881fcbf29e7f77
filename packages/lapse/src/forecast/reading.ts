// Lists objects page by page. The next page is requested while the current one is reduced to the needed fields.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { DELETION, IDENTITY, OWNERS, one, type Shape } from '@lapse/kube/api/shape';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { encodeBytes } from '@lapse/kube/client/codec';
import type { Page, PageOptions } from '@lapse/kube/client/read';
import { TransportError } from '@lapse/kube/client/transport';
import { describeSource, type Source, whole } from '@lapse/runtime/source';
import { Unreadable } from '#controllers/forecaster';

/** Reads a whole source. Throws Unreadable for what may not or cannot be read. */
export interface Read {
  <T extends KubeObject>(source: Source<T>): Promise<T[]>;
  /** Yields pages as they arrive, for callers that do not keep them. */
  readonly pages?: <T extends KubeObject>(source: Source<T>) => AsyncIterable<readonly T[]>;
}

/** Receives complete objects as they are read, before they are reduced. */
export interface Witness {
  see(kind: Kind, object: KubeObject): void;
  /** Called when the source was read completely. */
  saw(source: Source): void;
}

export interface Watching {
  /** Called with the number of objects in each page. */
  readonly onRead?: (kind: Kind, count: number) => void;
  readonly witness?: Witness;
}

export function readingFrom(client: Client, watching: Watching = {}): Read {
  async function* pages<T extends KubeObject>(source: Source<T>): AsyncGenerator<T[]> {
    try {
      yield* projected(client, source, watching);
    } catch (error) {
      throw error instanceof ApiError && REFUSALS.has(error.code)
        ? new Unreadable(`${describeSource(source as unknown as Source)}: ${error.message}`)
        : error;
    }
  }
  const read = async <T extends KubeObject>(source: Source<T>): Promise<T[]> => {
    const objects: T[] = [];
    for await (const page of pages(source)) for (const object of page) objects.push(object);
    return objects;
  };
  return Object.assign(read, { pages });
}

/** Forbidden, removed since discovery, or without the verb list. */
const REFUSALS: ReadonlySet<number> = new Set([403, 404, 405]);

async function* projected<T extends KubeObject>(
  client: Client,
  source: Source<T>,
  { onRead, witness }: Watching,
): AsyncGenerator<T[]> {
  const kind = source.kind as Kind;
  const project = (source.projection?.project ?? whole.project) as (object: T) => T;
  const wanted = source.projection?.shape;
  const shape = wanted === undefined || witness === undefined ? wanted : withOwnership(wanted);
  for await (const items of ahead(itemsOf(client, source, shape))) {
    const objects: T[] = [];
    for (const item of items) {
      witness?.see(kind, item);
      objects.push(project(item));
    }
    onRead?.(kind, items.length);
    yield objects;
  }
  witness?.saw(source as unknown as Source);
}

const shapes = new WeakMap<Shape, Shape>();

/** Adds the fields that the ownership index reads. Returns the same shape for the same input. */
function withOwnership(shape: Shape): Shape {
  const known = shapes.get(shape);
  if (known !== undefined) return known;
  const metadata = { ...shape.metadata?.shape, ...IDENTITY, ...DELETION, ...OWNERS };
  const wider = { ...shape, metadata: one(1, metadata) };
  shapes.set(shape, wider);
  return wider;
}

/** Requests the next page before it yields the current one. */
async function* ahead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T> {
  let next = source.next();
  for (;;) {
    const { value, done } = await next;
    if (done === true) return;
    next = source.next();
    // A consumer that stops early must not cause an unhandled rejection.
    next.catch(() => undefined);
    yield value as T;
  }
}

/** The first page shows the size of the objects. Few large pages cause less work on the API server. */
const FIRST_PAGE = 500;
const LARGEST_PAGE = 2000;
const SMALLEST_PAGE = 20;
/** Approximate size of a page as text. */
const PAGE_BYTES = 8 * 2 ** 20;
const SAMPLES = 5;

function pageFor(items: readonly KubeObject[]): number {
  let bytes = 0;
  for (let i = 0; i < SAMPLES; i++)
    bytes += encodeBytes(items[Math.floor((i * items.length) / SAMPLES)]).length;
  const fitting = Math.floor((PAGE_BYTES * SAMPLES) / bytes);
  return Math.max(SMALLEST_PAGE, Math.min(LARGEST_PAGE, fitting));
}

const pageOptions = (
  { namespace, labelSelector, fieldSelector }: Pick<Source, 'namespace' | 'labelSelector' | 'fieldSelector'>,
  shape: Shape | undefined,
) => ({
  ...(shape === undefined ? {} : { shape }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(labelSelector === undefined ? {} : { labelSelector }),
  ...(fieldSelector === undefined ? {} : { fieldSelector }),
});

async function* itemsOf<T extends KubeObject>(
  client: Client,
  source: Source<T>,
  shape: Shape | undefined,
): AsyncGenerator<T[], void> {
  const { kind } = source;
  const options = pageOptions(source, shape);
  let limit = FIRST_PAGE;
  let last: T | undefined;
  for (let token: string | undefined, isOver = false; !isOver; ) {
    const following = token === undefined ? {} : { continue: token };
    const page = await usablePage(client, kind, { ...options, limit, ...following });
    if (page.kind === 'expired') {
      yield await restOf(client, source, { ...options, limit: 0 }, last);
      return;
    }
    if (page.continue !== undefined && page.continue === token)
      throw new TransportError('malformed', 'the server repeats its continue token', { sent: true });
    token = page.continue;
    isOver = token === undefined;
    last = page.items.at(-1) ?? last;
    if (!isOver && page.items.length > 0) limit = pageFor(page.items);
    yield page.items;
  }
}

/** A response that is unusable or too large is requested again in smaller pages, and as JSON. */
async function usablePage<T extends KubeObject>(client: Client, kind: Kind<T>, options: PageOptions) {
  const { shape: _, ...asJson } = options;
  let asked = options;
  for (let { limit = FIRST_PAGE } = options; ; limit = Math.ceil(limit / 5))
    try {
      return await client.listPage(kind, { ...asked, limit });
    } catch (error) {
      const isUnusable = error instanceof TransportError && error.failure === 'malformed';
      if (!isUnusable || limit <= SMALLEST_PAGE) throw error;
      asked = asJson;
    }
}

/** If pages expire faster than they can be read, the rest is read in a single response. Lists are sorted by key. */
async function restOf<T extends KubeObject>(
  client: Client,
  { kind }: Source<T>,
  options: PageOptions,
  last: T | undefined,
): Promise<Page<T>['items']> {
  const page = await client.listPage(kind, options);
  if (page.kind === 'expired') throw page.error;
  if (last === undefined) return page.items;
  const known = keyText(last);
  return page.items.filter((item) => Buffer.compare(keyText(item), known) > 0);
}

const keyText = ({ metadata: { namespace = '', name = '' } }: KubeObject): Buffer =>
  Buffer.from(`${namespace}/${name}`);
