// For tests: a controller deletes ConfigMaps at a deadline that they contain. The controller's clock may be wrong; the
// clock of the embedded API server is correct.

import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { type Instant, type Millis, millis, minus, plus } from '@lapse/base/instant';
import { jsonLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { sleep } from '@lapse/base/sleep';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { type Client, createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { createSkew } from '@lapse/kube/client/skew';
import { isIdle } from '@lapse/runtime/activity';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { OwnClock } from '@lapse/runtime/election/election.testkit';
import type { EventNote } from '@lapse/runtime/events/types';
import { countInFlight } from '@lapse/runtime/inFlight';
import { Manager } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { ConfigMap, configMap } from '@lapse/runtime/world.testkit';
import { type BudgetOptions, createBudget } from './budget.ts';
import { type Deletion, outcomeOf } from './deletion.ts';
import { type Decision, GuardedDeletes } from './guardedDelete.ts';
import { deletionMetrics } from './metrics.ts';
import { createSkewGuard, type SkewGuard, trustedTime } from './skewGuard.ts';

type Instead = HttpResponse | 'hang' | 'lose' | undefined;
/** Runs before the API server receives the request. A returned response replaces the server's. */
export type Hook = (request: HttpRequest) => Promise<Instead> | Instead;

export interface KitOptions {
  readonly dryRun?: boolean;
  readonly budget?: Omit<BudgetOptions, 'clock'>;
  readonly rereadFirst?: boolean;
  /** False: the local clock is used without checks. */
  readonly guarded?: boolean;
  readonly concurrency?: number;
}

const decide = (object: ConfigMap, now: Instant): Decision<Instant | 'never'> => {
  if (object.metadata.deletionTimestamp !== undefined || object.data?.expires === undefined)
    return { kind: 'keep', because: 'never' };
  const at = Number(object.data.expires) as Instant;
  return now >= at ? { kind: 'delete', since: at } : { kind: 'keep', because: at };
};
const kept = (because: Instant | 'never'): Outcome =>
  because === 'never' ? settled() : waitUntil(because, 'ttl');

export class Kit {
  readonly clock: VirtualClock;
  readonly own: OwnClock;
  readonly server: ApiServer;
  readonly user: Client;
  readonly manager: Manager;
  readonly start: Instant;
  readonly requests: string[] = [];
  /** Accepted deletions, in time of the API server's clock. */
  readonly deleted: { name: string; at: Millis }[] = [];
  readonly events: { name: string; note: EventNote }[] = [];
  readonly deletions: string[] = [];
  readonly lags: number[] = [];
  /** Warnings and errors as `level message`. */
  readonly logged: string[] = [];
  hook: Hook = () => undefined;
  /** Delay of every response, except of watches. */
  latency = 0;
  onDeleted: (name: string) => void = () => {};
  #hung = 0;

  constructor(server: ApiServer, clock: VirtualClock, options: KitOptions) {
    this.server = server;
    this.clock = clock;
    this.own = new OwnClock(clock);
    this.start = clock.now();
    const random = seededRandom(1);
    this.user = createClient({ transport: inProcessTransport(server.handle), clock, random, flow: 'none' });
    const counted = countInFlight(inProcessTransport((request) => this.#handle(request)));
    const skew = createSkew(this.own);
    const client = createClient({
      transport: counted.transport,
      clock: this.own,
      random,
      flow: 'none',
      observe: skew.observe,
    });
    const outbox = {
      sink: {
        record: (regarding: { metadata: { name?: string } }, note: EventNote) =>
          this.events.push({ name: regarding.metadata.name!, note }),
      },
      pending: 0,
      close: async () => {},
    };
    const registry = new Registry();
    const guard: SkewGuard = options.guarded
      ? createSkewGuard({ clock: this.own, skew, raw: client.raw, registry })
      : trustedTime(this.own);
    const deletes = new GuardedDeletes({
      clock: this.own,
      guard,
      metrics: deletionMetrics(registry, 'ends', () => this.own.now()),
      ...(options.budget === undefined
        ? {}
        : { budget: createBudget({ clock: this.own, ...options.budget }) }),
      ...(options.rereadFirst === undefined ? {} : { rereadFirst: options.rereadFirst }),
    });
    this.manager = new Manager({
      clock: this.own,
      random,
      client,
      registry,
      time: guard,
      freeze: true,
      dryRun: options.dryRun ?? false,
      events: outbox,
      log: jsonLog({ clock, level: 'warn', write: (line) => this.#logs(line) }),
      inFlight: () => counted.inFlight() - this.#hung,
      controllers: [
        defineController<ConfigMap>({
          name: 'ends',
          for: ConfigMap,
          namespace: 'default',
          labelSelector: 'ends=yes',
          concurrency: options.concurrency ?? 8,
          reconcile: (ctx) => this.#reconcile(ctx, deletes),
        }) as ControllerDefinition,
      ],
    });
  }

  async #reconcile(ctx: ReconcileContext, deletes: GuardedDeletes): Promise<Outcome> {
    const object = ctx.cache.get(ConfigMap, ctx.key);
    if (object === undefined) return settled();
    const decision = decide(object, ctx.now);
    if (decision.kind === 'keep') return kept(decision.because);
    const deletion: Deletion<Instant | 'never'> = await deletes.delete(ctx, {
      kind: ConfigMap,
      object,
      since: decision.since,
      decide,
    });
    this.deletions.push(
      `${ctx.key.name} ${deletion.kind}${deletion.kind === 'held' ? `: ${deletion.because}` : ''}`,
    );
    if ('lag' in deletion) this.lags.push(deletion.lag);
    return outcomeOf(deletion, kept);
  }

  /** Milliseconds since the start, by the API server's clock. */
  now = (): Millis => minus(this.clock.now(), this.start);

  async put(name: string, expiresIn: number, more: Parameters<typeof configMap>[2] = {}): Promise<void> {
    const data = { expires: String(plus(this.clock.now(), millis(expiresIn))) };
    await this.user.create(ConfigMap, configMap(name, data, { labels: { ends: 'yes' }, ...more }));
  }
  key = (name: string) => ({ namespace: 'default', name });
  patch = (name: string, patch: object) =>
    this.user.patch(ConfigMap, this.key(name), { type: 'merge', patch });
  extend = (name: string, expiresIn: number) =>
    this.patch(name, { data: { expires: String(plus(this.clock.now(), millis(expiresIn))) } });
  get = (name: string) => this.user.get(ConfigMap, this.key(name));
  /** The DELETE and GET requests for one object, in order. */
  asked = (name: string): string[] =>
    this.requests.filter((r) => r.includes(`/configmaps/${name}`)).map((r) => r.split(' ')[0]!);

  readonly settle = async (): Promise<void> => {
    for (let quiet = 0, turns = 0; quiet < 4; turns++) {
      if (turns > 200_000) throw new Error(`never idle: ${JSON.stringify(this.manager.activity())}`);
      await nextTurn();
      quiet =
        isIdle({ ...this.manager.activity(), reconciles: 0 }) && this.server.undelivered() === 0
          ? quiet + 1
          : 0;
    }
  };
  pass = (length: number): Promise<void> => this.clock.advance(millis(length), this.settle);

  async close(): Promise<void> {
    const stopped = this.manager.stop();
    await this.clock.advance(millis(60_000), nextTurn);
    await stopped;
    await this.server.close();
  }

  async #handle(request: HttpRequest): Promise<HttpResponse> {
    this.requests.push(`${request.method} ${request.path}`);
    if (this.latency > 0 && !request.path.includes('watch=')) await this.#wait();
    const instead = await this.hook(request);
    if (instead === 'hang') return this.#hang(request);
    if (instead !== undefined && instead !== 'lose') return instead;
    const response = await this.server.handle(request);
    if (request.method === 'DELETE' && response.status < 300 && !isDryRun(request)) {
      const name = /configmaps\/([^?]+)/.exec(request.path)![1]!;
      this.deleted.push({ name, at: this.now() });
      this.onDeleted(name);
    }
    if (instead === 'lose') throw new Error('the connection was lost');
    return response;
  }

  #logs(line: string): void {
    const { level, message } = JSON.parse(line) as { level: string; message: string };
    this.logged.push(`${level} ${message}`);
  }

  /** The whole delay comes before the server acts; no test needs a split. */
  async #wait(): Promise<void> {
    this.#hung++;
    await sleep(this.clock, millis(this.latency));
    this.#hung--;
  }

  /** Waits until the caller gives up. Time may pass meanwhile. */
  #hang(request: HttpRequest): Promise<HttpResponse> {
    this.#hung++;
    return new Promise((_resolve, reject) => {
      request.signal?.addEventListener('abort', () => {
        this.#hung--;
        reject(new Error('gave up'));
      });
    });
  }
}

const isDryRun = ({ body }: HttpRequest): boolean =>
  body !== undefined && Buffer.from(body).toString().includes('"dryRun":["All"]');

export const inKit = (options: KitOptions, test: (kit: Kit) => Promise<void>) => async (): Promise<void> => {
  const clock = new VirtualClock();
  const kit = new Kit(await createServer({ clock, random: seededRandom(7) }), clock, options);
  try {
    await test(kit);
  } finally {
    await kit.close();
  }
};
