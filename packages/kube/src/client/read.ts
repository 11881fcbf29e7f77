// GET and LIST.

import { isObject, type JsonObject } from '#api/json';
import type { Kind, ObjectKey } from '#api/kind';
import type { KubeObject } from '#api/object';
import type { Shape } from '#api/shape';
import { ApiError } from '#api/status';
import {
  acceptFor,
  type Call,
  type Caller,
  type CallOptions,
  callOptions,
  readObject,
  trySend,
} from './call.ts';
import { asBuffer } from './codec.ts';
import { isExpired, isMissing } from './errors.ts';
import { collectionPath, objectPath } from './paths.ts';
import { decodeList } from './protobuf/envelope.ts';
import { TransportError } from './transport.ts';

export interface GetOptions extends CallOptions {
  /** "0": any version in the server's cache. Default: the latest. */
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

export interface SelectOptions extends CallOptions {
  /** The only fields the caller reads, for built-in kinds. Objects may lack all other fields. */
  readonly shape?: Shape;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends SelectOptions {
  /** Items per page. 0: everything in one page. Default: 500. */
  readonly limit?: number;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface PageOptions extends ListOptions {
  /** The continue token of the previous page. */
  readonly continue?: string;
}

export interface Page<T extends KubeObject> {
  readonly kind: 'page';
  readonly items: T[];
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** `expired`: the list cannot be continued, or not at that version. The caller must list again. */
export type PageResult<T extends KubeObject> =
  | Page<T>
  | { readonly kind: 'expired'; readonly error: ApiError };

export interface List<T extends KubeObject> {
  readonly items: T[];
  readonly resourceVersion: string;
}

const PAGE_SIZE = 500;

/** The object, or undefined if it does not exist. Throws if its kind is not served (also a 404) and on other errors. */
export async function get<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  key: ObjectKey,
  options: GetOptions = {},
): Promise<T | undefined> {
  const { subresource, resourceVersion, ...rest } = options;
  const path = objectPath(kind, key, subresource);
  const response = await trySend(caller, {
    method: 'GET',
    path,
    accept: acceptFor(kind),
    query: { resourceVersion },
    ...rest,
  });
  if (!(response instanceof ApiError)) return readObject(kind, response.json, path);
  if (isMissing(response, key.name)) return undefined;
  throw response;
}

function readPage<T extends KubeObject>(kind: Kind<T>, json: JsonObject, path: string): Page<T> {
  const metadata = isObject(json.metadata) ? json.metadata : {};
  const items = json.items ?? [];
  if (!Array.isArray(items) || typeof metadata.resourceVersion !== 'string') {
    const message = `${path}: expected a list, got ${String(json.kind)} without items or resourceVersion`;
    throw new TransportError('malformed', message, { sent: true });
  }
  const { continue: token, remainingItemCount: remaining, resourceVersion } = metadata;
  return {
    kind: 'page',
    items: items.map((item) => readObject(kind, item, path)),
    resourceVersion,
    ...(typeof token === 'string' && token !== '' ? { continue: token } : {}),
    ...(typeof remaining === 'number' ? { remainingItemCount: remaining } : {}),
  };
}

export async function listPage<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  options: PageOptions = {},
): Promise<PageResult<T>> {
  const { namespace, signal, timeout, shape, limit = PAGE_SIZE, ...query } = options;
  const path = collectionPath(kind, namespace);
  const call: Call = {
    method: 'GET',
    path,
    accept: acceptFor(kind, true, shape),
    query: { ...query, limit: limit > 0 ? limit : undefined },
    ...callOptions(options),
  };
  const response = await (shape === undefined
    ? trySend(caller, call)
    : trySend(caller, call, (body) => decodeList(asBuffer(body), kind, shape)));
  if (!(response instanceof ApiError)) return readPage(kind, response.json, path);
  if (isExpired(response)) return { kind: 'expired', error: response };
  throw response;
}

/** All pages of one resourceVersion. Ends after the last page, or after `expired`. */
export async function* pages<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  options: ListOptions = {},
): AsyncGenerator<PageResult<T>> {
  // Only the first request carries the version. Later it is part of the continue token.
  const { resourceVersion: _, resourceVersionMatch: __, ...following } = options;
  let page = await listPage(caller, kind, options);
  yield page;
  while (page.kind === 'page' && page.continue !== undefined) {
    const token: string = page.continue;
    page = await listPage(caller, kind, { ...following, continue: token });
    if (page.kind === 'page' && page.continue === token)
      throw new TransportError('malformed', 'the server repeats its continue token', { sent: true });
    yield page;
  }
}

/** All objects. If a page expires, it lists again in a single request, which cannot expire. */
export async function list<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  options: ListOptions = {},
): Promise<List<T>> {
  const items: T[] = [];
  let resourceVersion = '';
  for await (const page of pages(caller, kind, options)) {
    if (page.kind === 'expired') {
      if (items.length === 0 || options.limit === 0) throw page.error;
      return list(caller, kind, { ...options, limit: 0 });
    }
    for (const item of page.items) items.push(item);
    resourceVersion = page.resourceVersion;
  }
  return { items, resourceVersion };
}
