// npm run bench -- apiserver [--quick | --paging]: the embedded server, as published, compared with a real
// kube-apiserver + etcd; same client, same run. Then how long reading very many Jobs blocks it (`--paging`: only that).
// The first start of the published form is the slower one, because nothing was compiled before.

import { setTimeout as sleep } from 'node:timers/promises';
import { machine } from '../machine.ts';
import { markdownTable, ratio } from '../table.ts';
import { job } from './job.ts';
import { Load } from './load.ts';
import { measurePaging } from './paging.ts';
import { publish } from './published.ts';
import { type BenchTarget, startKubernetes, startPublished } from './targets.ts';

const NAMESPACE = '/apis/batch/v1/namespaces/default/jobs';

interface Figures {
  readonly target: string;
  readonly startup: number;
  readonly create: number;
  readonly get: number;
  readonly update: number;
  readonly list: number;
  readonly remove: number;
  readonly fanOut: number;
  readonly rss: number;
}

interface Sizes {
  readonly writes: number;
  readonly stored: number;
  readonly watchers: number;
  readonly events: number;
}

async function measure(target: BenchTarget, sizes: Sizes): Promise<Figures> {
  const load = new Load(target);
  try {
    // Warm up both sides: connections, JIT, caches.
    await load.rate(300, (i) => load.call('POST', NAMESPACE, job(`warm-${i}`)));
    await load.rate(300, (i) => load.call('DELETE', `${NAMESPACE}/warm-${i}?propagationPolicy=Background`));
    const created: Buffer[] = [];
    const create = await load.rate(sizes.writes, async (i) => {
      created[i] = await load.call('POST', NAMESPACE, job(`j-${i}`));
    });
    const changed = created.map((bytes) => {
      const object = JSON.parse(bytes.toString()) as { spec: { parallelism: number } };
      object.spec.parallelism = 2;
      return object;
    });
    const get = await load.rate(sizes.writes, (i) => load.call('GET', `${NAMESPACE}/j-${i}`));
    const update = await load.rate(sizes.writes, (i) => load.call('PUT', `${NAMESPACE}/j-${i}`, changed[i]!));
    const list = await load.rate(100, () => load.call('GET', `${NAMESPACE}?limit=1000`));
    const fanOut = await fanOutRate(load, sizes);
    const remove = await load.rate(sizes.writes, (i) =>
      load.call('DELETE', `${NAMESPACE}/j-${i}?propagationPolicy=Background`),
    );
    await load.rate(sizes.stored, (i) => load.call('POST', NAMESPACE, job(`kept-${i}`)));
    return {
      target: target.name,
      startup: target.startup,
      create,
      get,
      update,
      list,
      remove,
      fanOut,
      rss: target.rss(),
    };
  } finally {
    await load.close();
  }
}

// A server may cut off watchers that fall behind in a burst: it ends when no event arrives for this long.
const STALL_MS = 3000;

/** Deliveries per second: every event to every watcher, from the first write to the last delivery. */
async function fanOutRate(load: Load, { watchers, events }: Sizes): Promise<number> {
  const path = '/api/v1/namespaces/default/configmaps';
  const list = JSON.parse((await load.call('GET', path)).toString()) as {
    metadata: { resourceVersion: string };
  };
  let delivered = 0;
  let last = performance.now();
  const from = `${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`;
  const onLines = (n: number) => {
    delivered += n;
    last = performance.now();
  };
  const closers = await Promise.all(Array.from({ length: watchers }, () => load.watch(from, onLines)));
  const begin = performance.now();
  const value = 'x'.repeat(1000);
  await load.rate(events, (i) =>
    load.call('POST', path, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `fan-${i}` },
      data: { value },
    }),
  );
  while (delivered < watchers * events && performance.now() - last < STALL_MS) await sleep(20);
  for (const close of closers) close();
  return (delivered * 1000) / (last - begin);
}

const whole = (n: number) => Math.round(n).toLocaleString('en');

const ROWS: readonly { name: string; of: (f: Figures) => number; show: (n: number) => string }[] = [
  { name: 'start-up to first answer, ms', of: (f) => f.startup, show: whole },
  { name: 'create Job, /s', of: (f) => f.create, show: whole },
  { name: 'get Job, /s', of: (f) => f.get, show: whole },
  { name: 'update Job, /s', of: (f) => f.update, show: whole },
  { name: 'list 1,000 Jobs, /s', of: (f) => f.list, show: (n) => n.toFixed(1) },
  { name: 'delete Job, /s', of: (f) => f.remove, show: whole },
  { name: 'fan-out to 100 watchers, deliveries/s', of: (f) => f.fanOut, show: whole },
  { name: 'RSS with 10,000 Jobs, MB', of: (f) => f.rss / 2 ** 20, show: whole },
];

export default async function run(args: readonly string[]): Promise<void> {
  const quick = args.includes('--quick');
  if (!args.includes('--paging')) await compare(quick);
  const figures = await measurePaging(quick ? 10_000 : 100_000);
  process.stdout.write(`\n${machine()}${quick ? ' (quick)' : ''}\n\n${figures}\n`);
}

async function compare(quick: boolean): Promise<void> {
  const sizes: Sizes = quick
    ? { writes: 500, stored: 1000, watchers: 10, events: 50 }
    : { writes: 3000, stored: 10_000, watchers: 100, events: 300 };
  const results: Figures[] = [];
  const published = publish();
  const lapse = (store: 'memory' | 'sqlite') => () => startPublished(store, published);
  try {
    for (const start of [startKubernetes, lapse('memory'), lapse('sqlite')]) {
      const target = await start();
      process.stderr.write(`measuring ${target.name} …\n`);
      try {
        results.push(await measure(target, sizes));
      } finally {
        await target.stop();
      }
    }
  } finally {
    published.remove();
  }
  const [real, ...ours] = results as [Figures, ...Figures[]];
  const header = ['', real.target, ...ours.flatMap((f) => [f.target, 'ratio'])];
  const rows = ROWS.map(({ name, of, show }) => [
    name,
    show(of(real)),
    ...ours.flatMap((f) => [show(of(f)), ratio(of(f), of(real))]),
  ]);
  process.stdout.write(`\n${machine()}${quick ? ' (quick)' : ''}\n\n${markdownTable(header, rows)}\n`);
}
