// Typed verbs over one Transport.
//
// Answers, everywhere the same way: what is part of the conversation is a value (`get` → object or undefined; `create` →
// created | exists | invalid; `update`, `patch`, `apply` → … | conflict | missing | invalid; `delete` → deleted |
// terminating | gone | conflict; `listPage` → page | expired; `watch` → events, the last of which may be an error).
// Any other refusal is thrown as ApiError, the absence of an answer as TransportError.

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
  type DeleteAnswer,
  type DeleteCollectionOptions,
  type DeleteOptions,
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
  type PageAnswer,
  type PageOptions,
  pages,
} from './read.ts';
import type { HeaderMap, Transport, TransportResponse } from './transport.ts';
import { type WatchOptions, watch } from './watch.ts';
import type { WatchEvent } from './watchEvents.ts';
import {
  type ApplyAnswer,
  type ApplyOptions,
  apply,
  type CreateAnswer,
  create,
  type Patch,
  type PatchAnswer,
  type PatchOptions,
  patch,
  type UpdateAnswer,
  update,
  type WriteOptions,
} from './write.ts';

export interface ClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** For the jitter of repeated reads. */
  readonly random: Random;
  /** Anonymous unless told. */
  readonly credentials?: Credentials;
  /** Limits, shared by all clients that are given the same one; 32 requests in flight unless told. `none`: no limits
   * and no repetitions, for a client whose requests must go out at once (a lease). */
  readonly flow?: Flow | 'none';
  /** `lapse/<version>` unless told. */
  readonly userAgent?: string;
  /** `lapse` unless told. */
  readonly fieldManager?: string;
  /** For one attempt of one request; 30 s unless told. */
  readonly timeout?: Millis;
  /** After every attempt, for metrics; must not throw. */
  readonly observe?: (exchange: Exchange) => void;
  /** What is known about kinds, shared with another client of the same server; its own unless told. */
  readonly discovery?: Discovery;
  /** Texts of Warning headers. */
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
  listPage<T extends KubeObject>(kind: Kind<T>, options?: PageOptions): Promise<PageAnswer<T>>;
  pages<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): AsyncGenerator<PageAnswer<T>>;
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<List<T>>;
  watch<T extends KubeObject>(kind: Kind<T>, options?: WatchOptions): AsyncGenerator<WatchEvent<T>, void>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<CreateAnswer<T>>;
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<UpdateAnswer<T>>;
  patch<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    patch: Patch,
    options?: PatchOptions,
  ): Promise<PatchAnswer<T>>;
  /** `object` holds only the fields we mean to own. */
  apply<T extends KubeObject>(
    kind: Kind<T>,
    object: KubeObject,
    options?: ApplyOptions,
  ): Promise<ApplyAnswer<T>>;
  delete<T extends KubeObject>(
    kind: Kind<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<DeleteAnswer<T>>;
  deleteCollection<T extends KubeObject>(kind: Kind<T>, options?: DeleteCollectionOptions): Promise<List<T>>;
  readonly discovery: Discovery;
  /** Any request, with the client's credentials and limits; the answer as it came. */
  raw(request: RawRequest): Promise<TransportResponse>;
}

const TIMEOUT = seconds(30);

/** The object of a successful write; throws the refusal of any other answer. */
export function objectOf<T extends KubeObject>(
  answer: CreateAnswer<T> | UpdateAnswer<T> | PatchAnswer<T> | ApplyAnswer<T>,
): T {
  if ('object' in answer) return answer.object;
  throw answer.error;
}

/** Outside in: flow control, credentials, the deadline of one attempt, the wire. */
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
  const asking: Caller = {
    transport,
    userAgent: options.userAgent ?? `lapse/${VERSION}`,
    fieldManager: options.fieldManager ?? 'lapse',
    ...(options.onWarning === undefined ? {} : { onWarning: options.onWarning }),
  };
  const { discovery = createDiscovery(asking, options.clock) } = options;
  const caller: Caller = { ...asking, onUnserved: () => discovery.doubt() };
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
