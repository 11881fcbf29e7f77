// For tests: an API server, users that change objects, and a controller process, under random disturbances: watch
// streams that lag behind one another, restarts, lost responses, other writers. Every accepted write of the process
// is checked. Whenever the system is idle, the statuses are compared with naive.testkit.ts.

import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { instant, millis } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { CustomResourceDefinition, Namespace, Node, Pod } from '@lapse/kube/api/kinds/builtin';
import { createClient, objectOf } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { isIdle } from '@lapse/runtime/activity';
import { countInFlight } from '@lapse/runtime/inFlight';
import { Manager } from '@lapse/runtime/manager';
import { refuse } from '@lapse/runtime/world.testkit';
import { expect } from 'vitest';
import { LVMVolumeGroup, lvmVolumeGroup } from '#api/lvmVolumeGroup';
import {
  ReplicatedStoragePool,
  type ReplicatedStoragePoolStatus,
  replicatedStoragePool,
} from '#api/replicatedStoragePool';
import { storagePoolController } from './controller.ts';
import { expectedOf } from './naive.testkit.ts';
import { AGENTS } from './pool.testkit.ts';

export type Mishap = 409 | 429 | 500 | 'lostBefore' | 'lostAfter' | 'overtaken';
/** The grace periods used in the sequences, in milliseconds. */
const GRACES: Record<string, number> = { '0s': 0, '1s': 1000, '5m': 300_000, '1h': 3_600_000 };
const POOLS = '/apis/storage.deckhouse.io/v1alpha1/replicatedstoragepools';

const json = (bytes: unknown): ReplicatedStoragePool =>
  JSON.parse(Buffer.from(bytes as Uint8Array).toString()) as ReplicatedStoragePool;
const list = (status: ReplicatedStoragePoolStatus | undefined) => status?.eligibleNodes ?? [];
const readyOf = (status: ReplicatedStoragePoolStatus | undefined) =>
  status?.conditions?.find(({ type }) => type === 'Ready');

/** Reads a stream to its end. An unread stream is never closed. */
async function drain(body: HttpResponse['body']): Promise<void> {
  if (!(body instanceof Uint8Array)) for await (const _ of body);
}

/** One run of the process. It is killed by closing all its connections. */
interface Life {
  readonly manager: Manager;
  readonly gone: AbortController;
}

export class Model {
  readonly clock = new VirtualClock();
  readonly server: ApiServer;
  readonly user;
  /** Accepted writes of the process. */
  writes = 0;
  reconciles = 0;
  #life: Life | undefined;
  #mishaps: Mishap[] = [];
  readonly #versions = new Map<string, ReplicatedStoragePool>();
  readonly #streams = new Map<
    string,
    { held: PromiseWithResolvers<void> | undefined; cuts: Set<() => void> }
  >();
  readonly #faults: unknown[] = [];

  constructor(server: ApiServer, clock: VirtualClock) {
    this.clock = clock;
    this.server = server;
    const transport = inProcessTransport((request) => this.#carryOut(request));
    this.user = createClient({ transport, clock, random: seededRandom(3), flow: 'none' });
  }

  static async create(): Promise<Model> {
    const clock = new VirtualClock();
    const model = new Model(await createServer({ clock, random: seededRandom(99) }), clock);
    for (const { crd } of [replicatedStoragePool, lvmVolumeGroup])
      objectOf(await model.user.create(CustomResourceDefinition, crd as CustomResourceDefinition));
    objectOf(
      await model.user.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: AGENTS } }),
    );
    await model.settle();
    return model;
  }

  start(): void {
    if (this.#life !== undefined) return;
    const gone = new AbortController();
    const counted = countInFlight(inProcessTransport((request) => this.#wire(request, gone.signal)));
    const random = seededRandom(7);
    const client = createClient({ transport: counted.transport, clock: this.clock, random, flow: 'none' });
    const manager = new Manager({
      clock: this.clock,
      random,
      client,
      controllers: [storagePoolController({ agentNamespace: AGENTS })],
      freeze: true,
      enforceRights: true,
      bookmarks: false,
      listBy: 'pages',
      inFlight: counted.inFlight,
      onReconcile: () => this.reconciles++,
    });
    this.#life = { manager, gone };
    manager.start();
  }

  /** Kills the process. None of its pending requests completes. */
  async crash(): Promise<void> {
    const life = this.#life;
    if (life === undefined) return;
    this.#life = undefined;
    life.gone.abort();
    this.breakWatches();
    void life.manager.stop();
    await nextTurn();
  }

  /** Waits until idle. Events that are held back count as delivered. */
  async settle(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < 4; turns++) {
      if (turns > 50_000) throw new Error(`never idle: ${JSON.stringify(this.#life?.manager.activity())}`);
      await nextTurn();
      const idle = this.#life === undefined || isIdle(this.#life.manager.activity());
      const held = [...this.#streams.values()].some((stream) => stream.held !== undefined);
      quiet = idle && (held || this.server.undelivered() === 0) ? quiet + 1 : 0;
    }
  }

  pass = (length: number): Promise<void> => this.clock.advance(millis(length), () => this.settle());

  /** Holds back the events of one kind. */
  hold(resource: string): void {
    const stream = this.#stream(resource);
    stream.held ??= Promise.withResolvers<void>();
  }
  release(): void {
    for (const stream of this.#streams.values()) {
      stream.held?.resolve();
      stream.held = undefined;
    }
  }
  breakWatches(): void {
    for (const { cuts } of this.#streams.values()) for (const cut of [...cuts]) cut();
  }
  /** Failures for the next writes of the process. */
  mishap(...what: Mishap[]): void {
    this.#mishaps.push(...what);
  }

  /**
   * Delivers everything, lets some seconds pass, and checks every status: now, and around the next time at which it
   * changes through time alone.
   */
  async check(): Promise<void> {
    this.release();
    this.#mishaps = [];
    this.start();
    await this.settle();
    await this.pass(7000);
    const pools = await this.#compare();
    const { reconciles, writes } = this;
    this.#life!.manager.enqueueAll('double run');
    await this.settle();
    expect([this.reconciles - reconciles, this.writes - writes]).toEqual([pools, 0]);
    const next = await this.#nextExpiry();
    if (next === undefined) return;
    await this.clock.advanceTo(instant(next - 1), () => this.settle());
    await this.#compare();
    await this.pass(1);
    await this.#compare();
  }

  async #everything() {
    const { user } = this;
    const [nodes, lvgs, pods] = [
      await user.list(Node),
      await user.list(LVMVolumeGroup),
      await user.list(Pod),
    ];
    const { items } = await user.list(ReplicatedStoragePool);
    return { nodes: nodes.items, lvgs: lvgs.items, pods: pods.items, pools: items, agentNamespace: AGENTS };
  }

  /** Returns the number of pools. */
  async #compare(): Promise<number> {
    const { pools, ...all } = await this.#everything();
    for (const pool of pools) {
      const expected = expectedOf(pool, all, this.clock.now());
      const ready = readyOf(pool.status);
      expect([ready?.reason, ready?.status, ready?.observedGeneration]).toEqual([
        expected.reason,
        expected.reason === 'Ready' ? 'True' : 'False',
        pool.metadata.generation,
      ]);
      if (expected.nodes !== undefined) expect(list(pool.status)).toEqual(expected.nodes);
    }
    if (this.#faults.length > 0) throw this.#faults[0];
    return pools.length;
  }

  /** When the next grace period of any pool ends, if that is within two hours. */
  async #nextExpiry(): Promise<number | undefined> {
    const now = this.clock.now();
    const { nodes, pools } = await this.#everything();
    const ends = pools.flatMap(({ spec }) =>
      nodes.map(({ metadata, status }) => {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        const grace = GRACES[spec.eligibleNodesPolicy.notReadyGracePeriod] ?? 0;
        return Date.parse(ready?.lastTransitionTime ?? metadata.creationTimestamp ?? '') + grace;
      }),
    );
    const next = Math.min(...ends.filter((end) => end > now));
    return next - now < 7_200_000 ? next : undefined;
  }

  async close(): Promise<void> {
    this.release();
    const stopped = this.#life?.manager.stop();
    await this.clock.advance(millis(60_000), nextTurn);
    await stopped;
    await this.server.close();
  }

  /** The connection of the process to the API server. */
  async #wire(request: HttpRequest, gone: AbortSignal): Promise<HttpResponse> {
    if (gone.aborted) throw new Error('the process is gone');
    const write = request.method !== 'GET';
    const mishap = write ? this.#mishaps.shift() : undefined;
    if (mishap === 'lostBefore') throw new Error('the connection was lost');
    if (typeof mishap === 'number') return refuse(mishap, mishap === 409 ? 'Conflict' : 'Injected');
    if (mishap === 'overtaken') await this.#overtake(request);
    const broken = new AbortController();
    const signals = [gone, broken.signal, ...(request.signal === undefined ? [] : [request.signal])];
    const response = await this.#carryOut({ ...request, signal: AbortSignal.any(signals) });
    if (write) this.#judge(request, response);
    if (gone.aborted || mishap === 'lostAfter') {
      broken.abort();
      void drain(response.body);
      throw new Error('the connection was lost');
    }
    return response.body instanceof Uint8Array
      ? response
      : { ...response, body: this.#slowed(request, response.body, broken) };
  }

  /** Another client writes the status just before the process does. */
  async #overtake({ path }: HttpRequest): Promise<void> {
    const name = path.slice(POOLS.length + 1).split('/')[0]!;
    const patch = { status: { usedBy: { replicatedStorageClassNames: [`class-${this.writes}`] } } };
    await this.user.patch(
      ReplicatedStoragePool,
      { name },
      { type: 'merge', patch },
      { subresource: 'status' },
    );
  }

  /** Forwards to the API server and records every state of every pool. */
  async #carryOut(request: HttpRequest): Promise<HttpResponse> {
    const response = await this.server.handle(request);
    if (request.method !== 'GET' && request.path.startsWith(POOLS) && response.status < 300) {
      const pool = json(response.body);
      const version = pool.metadata?.resourceVersion;
      if (version !== undefined) this.#versions.set(version, pool);
    }
    return response;
  }

  /**
   * Checks a write: only the status, with the resourceVersion that was read, only if something changed, and with a
   * new revision if the list changed.
   */
  #judge(request: HttpRequest, response: HttpResponse): void {
    if (response.status >= 300) return;
    this.writes++;
    try {
      expect(request.method).toBe('PATCH');
      expect(request.path).toMatch(/\/status(\?|$)/);
      const patch = json(request.body);
      const before = this.#versions.get(patch.metadata.resourceVersion!);
      const after = json(response.body);
      expect(before?.metadata.uid).toBe(patch.metadata.uid);
      expect(after.status).not.toEqual(before!.status);
      const changed = JSON.stringify(list(before!.status)) !== JSON.stringify(list(after.status));
      const revision = Number(before!.status?.eligibleNodesRevision ?? 0);
      expect(Number(after.status?.eligibleNodesRevision ?? 0)).toBe(revision + (changed ? 1 : 0));
      expect(after.status?.usedBy).toEqual(before!.status?.usedBy);
      if (readyOf(after.status)?.status === 'False') expect(changed).toBe(false);
    } catch (error) {
      this.#faults.push(error);
    }
  }

  #stream(resource: string) {
    const known = this.#streams.get(resource);
    if (known !== undefined) return known;
    const made = { held: undefined, cuts: new Set<() => void>() };
    this.#streams.set(resource, made);
    return made;
  }

  async *#slowed(
    request: HttpRequest,
    chunks: AsyncIterable<Uint8Array>,
    broken: AbortController,
  ): AsyncGenerator<Uint8Array> {
    const stream = this.#stream(request.path.split('?')[0]!.split('/').at(-1)!);
    const cut = () => broken.abort();
    stream.cuts.add(cut);
    try {
      for await (const chunk of chunks) {
        while (stream.held !== undefined) await stream.held.promise;
        if (broken.signal.aborted) return;
        yield chunk;
      }
    } finally {
      stream.cuts.delete(cut);
    }
  }
}
