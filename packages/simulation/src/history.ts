// Records every change that the server accepted, in order. The simulator observes changes through its own watches. The
// first write to a resource opens its watch, so that no change is missed and no resource is watched needlessly.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';
import type { HttpHandler } from '@lapse/kube/api/http';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { parseBytes, parseText } from '@lapse/kube/client/codec';
import { isWrite, parseRequestInfo, type RequestInfo } from './requestInfo.ts';
import { withoutWatchTimeout } from './withoutWatchTimeout.ts';
import { type Actor, Writers } from './writers.ts';

export interface Change {
  /** Simulation time. */
  readonly at: Instant;
  /** Time of the server's clock. */
  readonly serverAt: Instant;
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Undefined: the object was created. */
  readonly before?: KubeObject;
  /** Undefined: the object was removed. */
  readonly after?: KubeObject;
  readonly by: Actor;
}

export interface HistoryOptions {
  readonly handler: HttpHandler;
  readonly clock: Clock;
  readonly serverClock: Clock;
  readonly onChange: (change: Change) => void;
}

interface Followed {
  readonly collection: string;
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly state: Map<string, KubeObject>;
}

export class History {
  readonly changes: Change[] = [];
  readonly #options: HistoryOptions;
  readonly #followed = new Map<string, Promise<void>>();
  readonly #writers: Writers;
  readonly #stop = new AbortController();

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#writers = new Writers(() => options.clock.now());
  }

  /** The request handler of the server for one actor. */
  handlerFor(actor: Actor): HttpHandler {
    const { handler } = this.#options;
    return async (request) => {
      if (request.method === 'GET') return handler(request);
      const seen = parseRequestInfo(request);
      if (!isWrite(seen)) return handler(request);
      await this.#follow(seen);
      const answered = this.#writers.enter(seen, nameIn(seen), actor);
      const response = await handler(request);
      answered(response);
      return response;
    };
  }

  close(): void {
    this.#stop.abort();
  }

  #follow({ group, version, resource }: RequestInfo): Promise<void> {
    const collection = `${group === '' ? `/api/${version}` : `/apis/${group}/${version}`}/${resource}`;
    const id = `${group}/${resource}`;
    let following = this.#followed.get(id);
    if (following === undefined) {
      following = this.#open(id, { collection, group, resource });
      this.#followed.set(id, following);
    }
    return following;
  }

  /** Lists and watches a resource. A resource that is not served yet is tried again at the next write. */
  async #open(id: string, at: { collection: string; group: string; resource: string }): Promise<void> {
    const list = await this.#get(at.collection);
    if (list === undefined) {
      this.#followed.delete(id);
      return;
    }
    const kind = String(list.kind).replace(/List$/, '');
    const followed: Followed = { ...at, kind, state: new Map() };
    for (const item of (list.items ?? []) as unknown as KubeObject[])
      followed.state.set(keyOf(item), {
        ...item,
        kind: item.kind ?? kind,
        apiVersion: item.apiVersion ?? String(list.apiVersion),
      });
    const version = isObject(list.metadata) ? String(list.metadata.resourceVersion) : '';
    const response = await withoutWatchTimeout(this.#options.handler)({
      method: 'GET',
      path: `${at.collection}?watch=1&resourceVersion=${version}`,
      headers: {},
      signal: this.#stop.signal,
    });
    if (!(response.body instanceof Uint8Array))
      void this.#read(response.body, followed).finally(() => this.#followed.delete(id));
  }

  async #get(path: string): Promise<JsonObject | undefined> {
    const response = await this.#options.handler({ method: 'GET', path, headers: {} });
    if (response.status !== 200) return undefined;
    const chunks: Uint8Array[] = [];
    if (response.body instanceof Uint8Array) chunks.push(response.body);
    else for await (const chunk of response.body) chunks.push(chunk);
    return parseBytes(Buffer.concat(chunks)) as JsonObject;
  }

  /** Each chunk consists of whole lines, because the embedded server writes them so and there is no network in between. */
  async #read(chunks: AsyncIterable<Uint8Array>, followed: Followed): Promise<void> {
    for await (const chunk of chunks)
      for (const line of Buffer.from(chunk).toString().split('\n')) {
        if (line === '') continue;
        const event = parseText(line) as JsonObject;
        if (event.type !== 'ERROR')
          this.#take(followed, String(event.type), event.object as unknown as KubeObject);
      }
  }

  #take(followed: Followed, type: string, object: KubeObject): void {
    const { group, resource, kind, state } = followed;
    const { name, namespace } = object.metadata;
    const key = keyOf(object);
    const before = state.get(key);
    if (type === 'DELETED') state.delete(key);
    else state.set(key, object);
    const target = { group, resource, name: name!, ...(namespace === undefined ? {} : { namespace }) };
    const made = { version: object.metadata.resourceVersion!, ends: type === 'DELETED' };
    const change: Change = {
      at: this.#options.clock.now(),
      serverAt: this.#options.serverClock.now(),
      ...target,
      kind,
      ...(before === undefined ? {} : { before }),
      ...(type === 'DELETED' ? {} : { after: object }),
      by: this.#writers.take(target, made),
    };
    this.changes.push(change);
    this.#options.onChange(change);
  }
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** The name in the body of a create request. */
function nameIn({ verb, body }: RequestInfo): string | undefined {
  if (verb !== 'create' || body === undefined) return undefined;
  try {
    const object = parseBytes(body);
    if (!isObject(object) || !isObject(object.metadata)) return undefined;
    return typeof object.metadata.name === 'string' ? object.metadata.name : undefined;
  } catch {
    return undefined;
  }
}
