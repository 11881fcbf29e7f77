// npm run bench -- storage-pool [--quick]: 1,000 pools of 1,000 nodes each, 5,000 nodes, 10,000 volume groups. How many
// pools one node triggers, CPU, writes and memory, and the cost of one pool compared with two peers: filtered full
// lists, and a naive computation. The server is a thread with almost no work; figures are those of the controller's
// thread.

import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { createClient } from '@lapse/kube/client/client';
import { undiciTransport } from '@lapse/kube/client/undici';
import { isIdle } from '@lapse/runtime/activity';
import { countInFlight } from '@lapse/runtime/inFlight';
import { Manager } from '@lapse/runtime/manager';
import type { ReconcileRecord } from '@lapse/runtime/worker';
import type { ReplicatedStoragePool } from 'lapse/api/replicatedStoragePool';
import { storagePoolController } from 'lapse/controllers/storage-pool/controller';
import { type Everything, expectedOf } from 'lapse/controllers/storage-pool/naive.testkit';
import { machine } from '../machine.ts';
import { markdownTable } from '../table.ts';
import { AGENTS, agent, lvg, node, pool, type Size } from './fleet.ts';
import { listingPass } from './listing.ts';
import type { Order, Report } from './server.ts';

const FULL: Size = { pools: 1000, nodes: 5000, selected: 1000 };
const QUICK: Size = { pools: 50, nodes: 500, selected: 100 };
const FLIPS = 1000;
const SINGLE_FLIPS = 10;
const PASS_LIMIT_MS = 50;

interface Stage {
  order(order: Order): Promise<void>;
  /** Waits until nothing is in progress for a while. */
  quiet(): Promise<void>;
  /** Reconciles every pool once more. */
  again(): void;
  readonly reconciles: ReconcileRecord[];
  writes(): number;
  close(): Promise<void>;
}

async function build(size: Size): Promise<Stage> {
  const worker = new Worker(new URL('./server.ts', import.meta.url), { workerData: size });
  const next = () => new Promise<Report>((resolve) => worker.once('message', resolve));
  const first = await next();
  if (first.kind !== 'listening') throw new Error('the server does not listen');
  const wire = undiciTransport({ server: `http://127.0.0.1:${first.port}`, clock: realClock });
  const counted = countInFlight(wire);
  const client = createClient({ transport: counted.transport, clock: realClock, random: systemRandom });
  const reconciles: ReconcileRecord[] = [];
  let writes = 0;
  const manager = new Manager({
    clock: realClock,
    random: systemRandom,
    client: {
      ...client,
      get discovery() {
        return client.discovery;
      },
      patch: (...args) => {
        writes++;
        return client.patch(...args);
      },
    },
    controllers: [storagePoolController({ agentNamespace: AGENTS })],
    listBy: 'pages',
    inFlight: counted.inFlight,
    onReconcile: (record) => reconciles.push(record),
  });
  manager.start();
  return {
    reconciles,
    writes: () => writes,
    again: () => manager.enqueueAll('once more'),
    async order(order) {
      const done = next();
      worker.postMessage(order);
      await done;
    },
    async quiet() {
      for (let calm = 0; calm < 10; ) {
        await sleep(50);
        const idle = isIdle(manager.activity()) && manager.phase === 'leading';
        calm = idle ? calm + 1 : 0;
      }
    },
    async close() {
      await manager.stop();
      await wire.close();
      await worker.terminate();
    },
  };
}

interface Cost {
  readonly what: string;
  readonly reconciles: number;
  readonly woken: number;
  readonly writes: number;
  readonly cpuSeconds: number;
}

async function measure(stage: Stage, what: string, act: () => Promise<void>): Promise<Cost> {
  const [reconciles, writes, cpu] = [stage.reconciles.length, stage.writes(), process.threadCpuUsage()];
  await act();
  await stage.quiet();
  const { user, system } = process.threadCpuUsage(cpu);
  const since = stage.reconciles.slice(reconciles);
  return {
    what,
    reconciles: since.length,
    woken: new Set(since.map(({ key }) => key)).size,
    writes: stage.writes() - writes,
    cpuSeconds: (user + system) / 1e6,
  };
}

const range = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

type Peer = (rsp: ReplicatedStoragePool, all: Everything, now: number) => readonly unknown[] | undefined;

/** Milliseconds of CPU for one pool, on average of several. */
function peerMillis(size: Size, pools: number, peer: Peer): number {
  const all: Everything = {
    nodes: range(size.nodes).map((i) => node(i, size)),
    lvgs: range(2 * size.nodes).map((i) => lvg(i, size)),
    pods: range(size.nodes).map(agent),
    agentNamespace: AGENTS,
  };
  const asked = range(pools).map((i) => pool(i, size));
  const start = process.threadCpuUsage();
  for (const rsp of asked) {
    const found = peer(rsp, all, Date.now())?.length;
    if (found !== size.selected) throw new Error(`a peer finds ${found} nodes`);
  }
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000 / pools;
}

function heapMegabytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Milliseconds of the resulting reconciles, their requests included. */
async function passTimes(stage: Stage, act: () => Promise<void>): Promise<number[]> {
  const from = stage.reconciles.length;
  await act();
  await stage.quiet();
  return stage.reconciles.slice(from).map(({ took }) => took);
}

export default async function run(args: readonly string[]): Promise<void> {
  const size = args.includes('--quick') ? QUICK : FULL;
  const before = heapMegabytes();
  const stage = await build(size);
  const flips = Math.min(FLIPS, size.nodes);
  const costs = [
    await measure(stage, 'start: every pool listed', async () => {}),
    await measure(stage, `${flips} heartbeats`, () =>
      stage.order({ kind: 'heartbeat', nodes: range(flips) }),
    ),
  ];
  const heap = heapMegabytes() - before;
  const singles: Cost[] = [];
  for (const i of range(SINGLE_FLIPS))
    singles.push(
      await measure(stage, 'one node flips', () => stage.order({ kind: 'flip', nodes: [i], ready: false })),
    );
  costs.push({
    what: 'one node flips (median)',
    reconciles: median(singles.map(({ reconciles }) => reconciles)),
    woken: median(singles.map(({ woken }) => woken)),
    writes: median(singles.map(({ writes }) => writes)),
    cpuSeconds: median(singles.map(({ cpuSeconds }) => cpuSeconds)),
  });
  costs.push(
    await measure(stage, `${flips} nodes flip at once`, () =>
      stage.order({ kind: 'flip', nodes: range(flips, size.nodes - flips), ready: false }),
    ),
  );
  costs.push(
    await measure(stage, 'every pool reconciled again', async () => {
      stage.again();
    }),
  );
  const greedy = median(await passTimes(stage, () => stage.order({ kind: 'greedy' })));
  await stage.close();
  report({
    size,
    costs,
    heap,
    greedy,
    naiveMs: peerMillis(size, 3, (rsp, all, now) => expectedOf(rsp, all, now).nodes),
    listingMs: peerMillis(size, 200, listingPass),
  });
}

interface Results {
  readonly size: Size;
  readonly costs: readonly Cost[];
  readonly heap: number;
  /** Milliseconds of a reconcile of a pool that selects every node. */
  readonly greedy: number;
  /** CPU for one pool, without the request. */
  readonly naiveMs: number;
  readonly listingMs: number;
}

function report({ size, costs, heap, greedy, naiveMs, listingMs }: Results): void {
  const count = (value: number) => value.toLocaleString('en');
  const rows = costs.map(({ what, reconciles, woken, writes, cpuSeconds }) => [
    what,
    count(woken),
    count(reconciles),
    count(writes),
    cpuSeconds.toFixed(2),
    reconciles === 0 ? '–' : ((cpuSeconds * 1000) / reconciles).toFixed(2),
  ]);
  process.stdout.write(`${machine()}\n\n`);
  process.stdout.write(
    `${count(size.pools)} pools of ${count(size.selected)} nodes, ${count(size.nodes)} nodes, ${count(2 * size.nodes)} volume groups\n\n`,
  );
  const header = ['', 'pools', 'reconciles', 'writes', 'CPU s', 'CPU ms per reconcile'];
  process.stdout.write(`${markdownTable(header, rows)}\n`);
  process.stdout.write(`\nheap with everything cached: ${heap.toFixed(0)} MB\n`);
  const once = costs.at(-1)!;
  const ours = (once.cpuSeconds * 1000) / once.reconciles;
  const peers = [
    ['lapse', ours],
    ['full lists, filtered', listingMs],
    ['naive, from whole objects', naiveMs],
  ] as const;
  const compared = peers.map(([name, ms]) => [name, ms.toFixed(2), `${(ms / ours).toFixed(1)}×`]);
  process.stdout.write(`\n${markdownTable(['one pool, nothing to write', 'CPU ms', 'to ours'], compared)}\n`);
  const groups = Math.ceil(size.nodes / size.selected);
  const concerned = size.pools / groups;
  check(
    `a pass over ${count(size.nodes)} nodes in ${greedy.toFixed(1)} ms (limit ${PASS_LIMIT_MS})`,
    greedy <= PASS_LIMIT_MS,
  );
  check(`heartbeats enqueue nothing (${costs[1]!.woken})`, costs[1]!.woken === 0);
  check(
    `one flip wakes the ${concerned} pools that select the node, and each is written once`,
    costs[2]!.woken === concerned && costs[2]!.writes === concerned,
  );
}

function check(what: string, holds: boolean): void {
  process.stdout.write(`${holds ? 'holds' : 'FAILS'}: ${what}\n`);
  if (!holds) process.exitCode = 1;
}
