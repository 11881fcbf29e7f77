// Reports all changes on the embedded API server to the timeline: the first write to a resource starts a watch of it.
// Requests are observed and forwarded unchanged.

import { BoundedMap } from '@lapse/base/boundedMap';
import type { Clock } from '@lapse/base/clock';
import type { Random } from '@lapse/base/random';
import type { HttpHandler, HttpRequest } from '@lapse/kube/api/http';
import { type Kind, plainKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { KindQuery } from '@lapse/kube/client/discovery';
import { Caches } from '@lapse/runtime/caches';
import { Interner } from '@lapse/runtime/interner';
import type { Change } from '@lapse/simulation/history';
import { isWrite, parseRequestInfo, type RequestInfo } from '@lapse/simulation/requestInfo';
import type { Actor } from '@lapse/simulation/writers';

export interface FollowerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly onChange: (change: Change) => void;
  /** Called before a write, in the async context of the caller. */
  readonly onWrite?: (request: RequestInfo) => void;
  readonly listBy?: 'stream' | 'pages';
  readonly bookmarks?: boolean;
}

/** Frequent and not relevant for the timeline. */
const IGNORED = new Set(['events', 'leases', 'selfsubjectaccessreviews', 'subjectaccessreviews']);
const MOST_WRITERS = 100_000;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #caches: Caches;
  readonly #followed = new Map<string, Promise<void>>();
  /** The last writer per object, latest at the end. */
  readonly #writers = new BoundedMap<string, Actor>(MOST_WRITERS);

  constructor(options: FollowerOptions) {
    this.#options = options;
    const { client, clock, random, listBy, bookmarks } = options;
    this.#caches = new Caches({
      client,
      clock,
      random,
      interner: new Interner(),
      ...(listBy === undefined ? {} : { listBy }),
      ...(bookmarks === undefined ? {} : { bookmarks }),
    });
  }

  /** The same handler. Writes through it are attributed to the actor. */
  around(actor: Actor, handle: HttpHandler): HttpHandler {
    return async (request) => {
      if (request.method !== 'GET') await this.#see(request, actor);
      return handle(request);
    };
  }

  /** Number of caches with pending items. */
  get busy(): number {
    return this.#caches.busy;
  }

  close(): Promise<void> {
    return this.#caches.close();
  }

  async #see(request: HttpRequest, actor: Actor): Promise<void> {
    const seen = parseRequestInfo(request);
    if (!isWrite(seen) || seen.resource === '' || IGNORED.has(seen.resource)) return;
    this.#options.onWrite?.(seen);
    const id = `${seen.group}/${seen.resource}`;
    let following = this.#followed.get(id);
    if (following === undefined) {
      following = this.#follow(seen);
      this.#followed.set(id, following);
    }
    // Resources that cannot be watched are not shown. The request is forwarded.
    await following.catch(() => this.#followed.delete(id));
    if (seen.name !== undefined) this.#remember(writerKey(seen, seen.namespace, seen.name), actor);
    else this.#remember(writerKey(seen, seen.namespace, ''), actor);
  }

  #remember(key: string, actor: Actor): void {
    this.#writers.set(key, actor);
  }

  /** Resolves after the initial list: only later events are changes. */
  async #follow({ group, version, resource }: RequestInfo): Promise<void> {
    const kind = await this.#find({ group, version, resource });
    if (kind === undefined) throw new Error('not served');
    const handle = this.#caches.acquire({ kind: plainKind(kind) });
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (handle.status.synced) resolve();
        else if (handle.status.problem !== undefined) reject(handle.status.problem.error);
      };
      handle.onStatus(look);
      look();
    });
    let initial = true;
    handle.listen(({ before, after }) => {
      if (!initial) this.#tell(kind, before, after);
    });
    initial = false;
  }

  /** A written kind is served, possibly only since a moment ago, so a cached negative discovery result is not used. */
  async #find(query: KindQuery): Promise<Kind | undefined> {
    const { discovery } = this.#options.client;
    const known = await discovery.find(query);
    if (known !== undefined) return known;
    discovery.invalidate();
    return discovery.find(query);
  }

  #tell(kind: Kind, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const { clock, onChange } = this.#options;
    const { name = '', namespace } = (after ?? before)!.metadata;
    const now = clock.now();
    onChange({
      at: now,
      serverAt: now,
      group: kind.group,
      resource: kind.resource,
      kind: kind.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      by:
        this.#writers.get(writerKey(kind, namespace, name)) ??
        this.#writers.get(writerKey(kind, namespace, '')) ??
        'server',
    });
  }
}

const writerKey = (of: { group: string; resource: string }, namespace: string | undefined, name: string) =>
  `${of.group}/${of.resource}/${namespace ?? ''}/${name}`;
