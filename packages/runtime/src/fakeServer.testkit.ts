// Test fixture: list and watch of an API server for one namespaced resource, with a compactable history and injectable
// faults. It implements only what a reflector can observe.

import type { HttpHandler, HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { KubeObject } from '@lapse/kube/api/object';
import { Channel } from './channel.testkit.ts';

interface LoggedChange {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

/** A fault for one request. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason: string;
      readonly retryAfter?: number;
      readonly message?: string;
    }
  /** The server handles the request; the response is lost. */
  | { readonly kind: 'lost' }
  /** No response. */
  | { readonly kind: 'hang' }
  /** Streams: breaks in the middle of a line after `after` events. */
  | { readonly kind: 'cut'; readonly after: number }
  /** Streams: sends nothing more after `after` events and does not close. */
  | { readonly kind: 'silent'; readonly after: number }
  /** Streams: sends every event twice. */
  | { readonly kind: 'duplicate' }
  /** Streams: sends something that is not an event after `after` events. */
  | { readonly kind: 'garbage'; readonly after: number }
  /** Streams: closes without an error after `after` events. */
  | { readonly kind: 'end'; readonly after: number };

const encode = (value: unknown) => Buffer.from(JSON.stringify(value));

const answer = (status: number, body: unknown, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: encode(body),
});

const statusBody = (code: number, reason: string, message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});

export class FakeServer {
  revision = 100;
  /** Changes up to this revision are compacted. */
  floor = 0;
  /** `ignored`: an old server that ignores sendInitialEvents and never sends the initial-events-end bookmark. */
  streamingLists: boolean | 'ignored' = true;
  /** Name of an object to delete once, after a streaming list has sent its objects and before its final bookmark. */
  deletedDuringList: string | undefined;
  /** Called before each request is handled. */
  before: (path: string) => void = () => {};
  readonly objects = new Map<string, KubeObject>();
  readonly requests: string[] = [];
  #faults: (Fault | undefined)[] = [];
  #log: LoggedChange[] = [];
  readonly #watches = new Set<Watch>();
  #uids = 0;

  /** Faults for the next requests, in order; undefined lets one through. */
  inject(...faults: (Fault | undefined)[]): void {
    this.#faults.push(...faults);
  }
  get pendingFaults(): number {
    return this.#faults.length;
  }
  heal(): void {
    this.#faults = [];
    for (const watch of [...this.#watches]) if (watch.dead) watch.channel.end();
  }

  put(name: string, fields: Record<string, unknown> = {}): KubeObject {
    const revision = ++this.revision;
    const before = this.objects.get(name);
    const object = {
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: {
        name,
        namespace: 'n',
        uid: before?.metadata.uid ?? `u${++this.#uids}`,
        resourceVersion: String(revision),
      },
      ...fields,
    };
    this.objects.set(name, object);
    this.#record({ revision, type: before ? 'MODIFIED' : 'ADDED', object });
    return object;
  }

  delete(name: string): void {
    const before = this.objects.get(name);
    if (before === undefined) return;
    const revision = ++this.revision;
    this.objects.delete(name);
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(revision) } };
    this.#record({ revision, type: 'DELETED', object });
  }

  /** Compacts the history: older versions get 410 from now on. */
  compact(): void {
    this.floor = this.revision;
    this.#log = [];
  }

  bookmark(): void {
    for (const watch of this.#watches) watch.send(bookmark(this.revision, false));
  }

  /** Closes all watches without an error. */
  endWatches(): void {
    for (const watch of [...this.#watches]) watch.channel.end();
  }
  get watches(): number {
    return this.#watches.size;
  }

  readonly handle: HttpHandler = async (request) => {
    this.requests.push(request.path);
    this.before(request.path);
    const fault = this.#faults.shift();
    if (fault?.kind === 'hang') return new Promise(() => {});
    if (fault?.kind === 'status') {
      const headers = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
      return answer(
        fault.code,
        statusBody(fault.code, fault.reason, fault.message ?? 'injected'),
        headers as Record<string, string>,
      );
    }
    const query = new URL(request.path, 'http://x').searchParams;
    const response = query.get('watch') === 'true' ? this.#watch(query, request, fault) : this.#list(query);
    if (fault?.kind === 'lost') throw new Error('the connection was lost');
    return response;
  };

  #record(change: LoggedChange): void {
    this.#log.push(change);
    for (const watch of this.#watches) watch.send({ type: change.type, object: change.object });
  }

  /** The objects at a revision. */
  #at(revision: number): Map<string, KubeObject> {
    if (revision >= this.revision) return this.objects;
    const state = new Map<string, KubeObject>();
    // The current objects and the log since the floor are enough to rebuild any revision after the floor.
    for (const [name, object] of this.objects)
      if (Number(object.metadata.resourceVersion) <= revision) state.set(name, object);
    const last = new Map<string, LoggedChange>();
    for (const change of this.#log)
      if (change.revision <= revision) last.set(change.object.metadata.name!, change);
    for (const [name, change] of last) {
      if (change.type === 'DELETED') state.delete(name);
      else state.set(name, change.object);
    }
    return state;
  }

  #list(query: URLSearchParams): HttpResponse {
    const limit = Number(query.get('limit') ?? 0);
    const [tokenRevision, after] = (query.get('continue') ?? '').split(':');
    const revision = tokenRevision ? Number(tokenRevision) : this.revision;
    if (revision < this.floor)
      return answer(410, statusBody(410, 'Expired', 'the continue token is too old'));
    const names = [...this.#at(revision).keys()].sort().filter((name) => !after || name > after);
    const page = limit > 0 ? names.slice(0, limit) : names;
    const more = page.length < names.length;
    const state = this.#at(revision);
    return answer(200, {
      kind: 'ThingList',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: String(revision),
        ...(more ? { continue: `${revision}:${page.at(-1)}` } : {}),
      },
      items: page.map((name) => state.get(name)),
    });
  }

  #watch(query: URLSearchParams, request: HttpRequest, fault: Fault | undefined): HttpResponse {
    const initial = query.get('sendInitialEvents') === 'true';
    if (initial && !this.streamingLists)
      return answer(422, statusBody(422, 'Invalid', 'sendInitialEvents is forbidden for watch'));
    const watch = new Watch(fault);
    const version = Number(query.get('resourceVersion') ?? 0);
    if (initial) {
      for (const name of [...this.objects.keys()].sort())
        watch.send({ type: 'ADDED', object: this.objects.get(name)! });
      const deleted = this.deletedDuringList;
      this.deletedDuringList = undefined;
      if (deleted !== undefined) {
        this.delete(deleted);
        watch.send({ type: 'DELETED', object: this.#log.at(-1)!.object });
      }
      watch.send(bookmark(this.revision, this.streamingLists === true));
    } else if (version < this.floor) {
      watch.channel.push(
        line({ type: 'ERROR', object: statusBody(410, 'Expired', 'too old resource version') }),
      );
      watch.channel.end();
    } else
      for (const change of this.#log)
        if (change.revision > version) watch.send({ type: change.type, object: change.object });
    this.#watches.add(watch);
    const close = () => watch.channel.end();
    request.signal?.addEventListener('abort', close);
    watch.channel.onEnd = () => {
      this.#watches.delete(watch);
      request.signal?.removeEventListener('abort', close);
    };
    if (watch.channel.ended) this.#watches.delete(watch);
    return { status: 200, headers: { 'content-type': 'application/json' }, body: watch.channel };
  }
}

const line = (event: object) => Buffer.from(`${JSON.stringify(event)}\n`);
const bookmark = (revision: number, end: boolean) => ({
  type: 'BOOKMARK',
  object: {
    kind: 'Thing',
    apiVersion: 'v1',
    metadata: {
      resourceVersion: String(revision),
      ...(end ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  },
});

class Watch {
  readonly channel = new Channel();
  /** Half-open connection: the server still believes it is sending. */
  dead = false;
  readonly #fault: Fault | undefined;
  #sent = 0;

  constructor(fault: Fault | undefined) {
    this.#fault = fault;
  }

  send(event: object): void {
    if (this.dead || this.channel.ended) return;
    const bytes = line(event);
    const fault = this.#fault;
    const isNow = fault !== undefined && 'after' in fault && this.#sent >= fault.after;
    this.#sent++;
    if (!isNow) {
      this.channel.push(bytes);
      if (fault?.kind === 'duplicate') this.channel.push(bytes);
      return;
    }
    switch (fault.kind) {
      case 'cut':
        this.channel.push(bytes.subarray(0, bytes.length >> 1));
        this.channel.end();
        break;
      case 'silent':
        this.dead = true;
        break;
      case 'garbage':
        this.channel.push(Buffer.from('{"type":"PARTY"\n'));
        this.channel.end();
        break;
      default:
        this.channel.end();
    }
  }
}
