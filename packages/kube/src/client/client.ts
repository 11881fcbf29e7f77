// Typed API verbs on top of a Transport.
//
// Outcomes that a caller is expected to handle are values (`get` → object or undefined; `create` → created | exists |
// invalid; `update`, `patch`, `apply` → … | conflict | missing | invalid; `delete` → deleted | terminating | gone |
// conflict; `listPage` → page | expired; `watch` → events, the last of which may be an error).
// Any other error response is thrown as ApiError. A missing response is thrown as TransportError.

import type { Clock } from '@lapse/base/clock';
import { type Millis, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { VERSION } from '@lapse/base/version';
import type { Kind, ObjectKey } from '#api/kind';
import type { KubeObject } from '#api/object';
import type { Caller, CallOptions } from './call.ts';
import { type Credentials, withCredentials } from './credentials.ts';
import { type Exchange, withDeadline } from './deadline.ts';
import {
  type DeleteCollectionOptions,
  type DeleteOptions,
  type DeleteResult,
  deleteCollection,
  deleteObject,
} from './delete.ts';
import { createDiscovery, type Discovery } from './discovery.ts';
import { createFlow, type Flow } from './flow.ts';
import {
  type GetOptions,
  get,
  type List,
  type ListOptions,
  list,
  listPage,
  type PageOptions,
  type PageResult,
  pages,
} from './read.ts';
import type { HeaderMap, Transport, TransportResponse } from './transport.ts';
import { type WatchOptions, watch } from './watch.ts';
import type { WatchEvent } from './watchEvents.ts';
import {
  type ApplyOptions,
  type ApplyResult,
  apply,
  type CreateResult,
  create,
  type Patch,
  type PatchOptions,
  type PatchResult,
  patch,
  type UpdateResult,
  update,
  type WriteOptions,
} from './write.ts';

export interface ClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** For the jitter of retried reads. */
  readonly random: Random;
  /** Default: anonymous. */
  readonly credentials?: Credentials;
  /**
   * Rate and concurrency limits, shared by all clients with the same Flow. Default: 32 requests in flight. `none`: no
   * limits and no retries, for requests that must be sent immediately (leases).
   */
  readonly flow?: Flow | 'none';
  /** Default: `lapse/<version>`. */
  readonly userAgent?: string;
  /** Default: `lapse`. */
  readonly fieldManager?: string;
  /** Timeout of one attempt of a request. Default: 30 s. */
  readonly timeout?: Millis;
  /** Called after every attempt, for metrics. Must not throw. */
  readonly observe?: (exchange: Exchange) => void;
  /** Discovery cache, shared with another client of the same server. Default: a cache of its own. */
  readonly discovery?: Discovery;
  /** Called with the text of each Warning header. */
  readonly onWarning?: (warning: string) => void;
}

export interface RawRequest extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly headers?: HeaderMap;
  readonly body?: Uint8Array;
}

export interface Client {
  get<T extends KubeObject>(kind: Kind<T>, key: ObjectKey, options?: GetOptions): Promise<T | undefined>;
  listPage<T extends KubeObject>(kind: Kind<T>, options?: PageOptions): Promise<PageResult<T>>;
  pages<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): AsyncGenerator<PageResult<T>>;
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<List<T>>;
  watch<T extends KubeObject>(kind: Kind<T>, options?: WatchOptions): AsyncGenerator<WatchEvent<T>, void>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<CreateResult<T>>;
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<UpdateResult<T>>;
  patch<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    options?: PatchOptions,
  ): Promise<PatchResult<T>>;
  /** `object` contains only the fields that the caller wants to own. */
  apply<T extends KubeObject>(
    kind: Kind<T>,
    object: KubeObject,
    options?: ApplyOptions,
  ): Promise<ApplyResult<T>>;
  delete<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<DeleteResult<T>>;
  deleteCollection<T extends KubeObject>(kind: Kind<T>, options?: DeleteCollectionOptions): Promise<List<T>>;
  readonly discovery: Discovery;
  /** Sends any request with the client's credentials and limits. Returns the response unchanged. */
  raw(request: RawRequest): Promise<TransportResponse>;
}

const TIMEOUT = seconds(30);

/** The object of a successful write. Throws an ApiError for any other result. */
export function objectOf<T extends KubeObject>(
  result: CreateResult<T> | UpdateResult<T> | PatchResult<T> | ApplyResult<T>,
): T {
  if ('object' in result) return result.object;
  throw result.error;
}

/** Layers from the outside in: flow control, credentials, deadline per attempt, transport. */
function layered(options: ClientOptions): Transport {
  const { clock, observe, credentials, random } = options;
  const timed = withDeadline(options.transport, {
    clock,
    timeout: options.timeout ?? TIMEOUT,
    ...(observe === undefined ? {} : { observe }),
  });
  const signed = credentials === undefined ? timed : withCredentials(timed, credentials);
  if (options.flow === 'none') return signed;
  return (options.flow ?? createFlow({ clock, random })).around(signed);
}

export function createClient(options: ClientOptions): Client {
  const transport = layered(options);
  const discoveryCaller: Caller = {
    transport,
    userAgent: options.userAgent ?? `lapse/${VERSION}`,
    fieldManager: options.fieldManager ?? 'lapse',
    ...(options.onWarning === undefined ? {} : { onWarning: options.onWarning }),
  };
  const { discovery = createDiscovery(discoveryCaller, options.clock) } = options;
  const caller: Caller = { ...discoveryCaller, onUnserved: () => discovery.markStale() };
  return {
    get: (kind, key, o) => get(caller, kind, key, o),
    listPage: (kind, o) => listPage(caller, kind, o),
    pages: (kind, o) => pages(caller, kind, o),
    list: (kind, o) => list(caller, kind, o),
    watch: (kind, o) => watch(caller, kind, o),
    create: (kind, object, o) => create(caller, kind, object, o),
    update: (kind, object, o) => update(caller, kind, object, o),
    patch: (kind, key, body, o) => patch(caller, kind, key, { ...o, patch: body }),
    apply: (kind, object, o) => apply(caller, kind, object, o),
    delete: (kind, key, o) => deleteObject(caller, kind, key, o),
    deleteCollection: (kind, o) => deleteCollection(caller, kind, o ?? {}),
    discovery,
    raw: ({ headers = {}, ...request }) =>
      transport.request({ ...request, headers: { 'user-agent': caller.userAgent, ...headers } }),
  };
}
