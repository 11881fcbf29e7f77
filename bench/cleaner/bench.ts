// npm run bench -- cleaner [--quick] [--built] [--only memory]: the costs of Cleaners. The memory of `lapse run` with
// 100,000 that wait for their TTL; a million of them in the queue, in bytes; evaluations per second of the proposal's
// condition over ten revisions, compared with hand-written JavaScript; and a restart with ten thousand waiting
// Cleaners, in time, requests and reconciles.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { instant, minutes } from '@lapse/base/instant';
import { compile, conditionEnvironment, DYN } from '@lapse/cel/cel';
import { simulate } from '@lapse/simulation/simulate';
import { Cleaner } from 'lapse/api/cleaner';
import { cleaner, revision, SEED_CONDITION } from 'lapse/controllers/cleaner/cleaner.testkit';
import { computeNextLook, evaluate } from 'lapse/controllers/cleaner/conditions';
import { composeFamilies, findFamily } from '../../test/scenarios/compose.ts';
import { machine } from '../machine.ts';
import { markdownTable } from '../table.ts';
import { measureWaiting } from './memory.ts';
import type { Waiting } from './waiting.ts';

const EVALUATIONS_PER_SECOND = 10_000;
const MEGABYTES = 60;
const RESIDENT_MEGABYTES = 150;
const BUILD = fileURLToPath(new URL('../../scripts/build.ts', import.meta.url));
const NOW = instant(Date.parse('2026-03-01T00:00:00Z'));

function waiting(count: number): Waiting {
  const script = fileURLToPath(new URL('./waiting.ts', import.meta.url));
  const options = ['--expose-gc', '--max-old-space-size=4096', script, String(count)];
  return JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' })) as Waiting;
}

const items = Array.from({ length: 10 }, (_, i) =>
  revision(`sfj-${i}`, { routes: 'sfj-a,preview-b', since: '2026-02-20T00:00:00Z' }),
);

function seedProgram() {
  const compiled = compile(SEED_CONDITION, conditionEnvironment({ revisions: DYN }));
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return compiled.program;
}

async function perSecond(millis: number, work: () => unknown): Promise<number> {
  const start = performance.now();
  let count = 0;
  for (; performance.now() - start < millis; ) for (let i = 0; i < 100; i++, count++) await work();
  return count / ((performance.now() - start) / 1000);
}

const WINDOW = 360 * 3_600_000;
type Revision = {
  metadata: { annotations: Record<string, string> };
  status: { conditions: { type: string; status: string; lastTransitionTime: string }[] };
};
const byHand = (): boolean =>
  !(items as unknown as Revision[]).some(
    (r) =>
      r.metadata.annotations['serving.knative.dev/routes']!.split(',').some(
        (x) => !x.startsWith('sfj-') && !x.startsWith('preview-'),
      ) ||
      r.status.conditions
        .filter((c) => c.type === 'Active')
        .some((c) => c.status === 'True' || NOW - Date.parse(c.lastTransitionTime) < WINDOW),
  );

async function evaluations(millis: number): Promise<Record<string, number>> {
  const program = seedProgram();
  const bindings = { revisions: { items } };
  const lookOptions = { period: minutes(300), monotonic: true };
  return {
    'evaluations, all conditions of a Cleaner': await perSecond(millis, () =>
      evaluate([program], bindings, NOW),
    ),
    'searches for the time it turns true': await perSecond(millis, () =>
      computeNextLook([program], bindings, NOW, lookOptions),
    ),
    'hand-written JavaScript': await perSecond(millis, byHand),
  };
}

interface Restart {
  readonly seconds: number;
  readonly requests: number;
  readonly looks: number;
}

/** The Cleaners exist, their status has the deadline of their TTL, and the process is restarted. */
async function restart(count: number): Promise<Restart> {
  const family = findFamily('cleaner');
  const configuration = { actAs: 'controller' };
  const compose = composeFamilies({ families: [family], controllers: [], configuration, gates: {} });
  const simulation = await simulate({ compose, kinds: family.kinds });
  for (let i = 0; i < count; i++)
    await simulation.user.create(Cleaner, cleaner({ ttl: '360h' }, { name: `c${i}` }));
  await simulation.settle();
  simulation.crash();
  const [requests, looks] = [simulation.requests.length, simulation.reconciles.length];
  const start = performance.now();
  await simulation.restart();
  const figures = {
    seconds: (performance.now() - start) / 1000,
    requests: simulation.requests.length - requests,
    looks: simulation.reconciles.length - looks,
  };
  await simulation.close();
  return figures;
}

const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);

/** `lapse run` with few and with very many waiting Cleaners. */
async function memory(quick: boolean, built: boolean): Promise<void> {
  if (built) execFileSync(process.execPath, [BUILD], { stdio: 'inherit' });
  const sizes = quick ? [100, 2000] : [1000, 100_000];
  const rows: string[][] = [];
  let last = { rss: 0, peak: 0 };
  for (const count of sizes) {
    const { rss, peak, heap = 0, synced, cpuToSync } = await measureWaiting(count, built);
    const sizesInMegabytes = [rss, peak, heap].map((bytes) => `${megabytes(bytes)} MB`);
    rows.push([
      count.toLocaleString('en'),
      ...sizesInMegabytes,
      `${synced.toFixed(1)} s`,
      `${cpuToSync.toFixed(1)} s`,
    ]);
    last = { rss: megabytes(rss), peak: megabytes(peak) };
  }
  const header = ['waiting Cleaners, lapse run', 'RSS', 'peak', 'heap', 'synced after', 'CPU to sync'];
  process.stdout.write(`${markdownTable(header, rows)}\n`);
  if (quick) return;
  for (const [name, size] of Object.entries(last))
    report(
      size <= RESIDENT_MEGABYTES,
      `100,000 waiting Cleaners, ${name}: ${size} MB (limit ${RESIDENT_MEGABYTES})`,
    );
}

const report = (holds: boolean, text: string) => {
  process.stdout.write(`${holds ? 'holds' : 'FAILS'}: ${text}\n`);
  if (!holds) process.exitCode = 1;
};

export default async function run(args: readonly string[]): Promise<void> {
  const quick = args.includes('--quick');
  process.stdout.write(`${machine()}\n\n`);
  await memory(quick, args.includes('--built'));
  if (args.includes('memory')) return;
  const timers = waiting(quick ? 100_000 : 1_000_000);
  const header = ['waiting Cleaners', 'MB of queue and timers', 'MB of keys', 'scheduled'];
  const row = [
    timers.count.toLocaleString('en'),
    timers.megabytes.toFixed(1),
    timers.keyMegabytes.toFixed(1),
    `${(timers.perSecond / 1e6).toFixed(2)} M/s`,
  ];
  process.stdout.write(`${markdownTable(header, [row])}\n`);
  const rates = await evaluations(quick ? 300 : 2000);
  const rows = Object.entries(rates).map(([name, rate]) => [name, Math.round(rate).toLocaleString('en')]);
  process.stdout.write(
    `${markdownTable(["the proposal's condition over 10 revisions", 'per second'], rows)}\n`,
  );
  const count = quick ? 500 : 10_000;
  const { seconds, requests, looks } = await restart(count);
  process.stdout.write(
    `${markdownTable(['restart with', 'seconds', 'requests', 'looks'], [[`${count.toLocaleString('en')} waiting Cleaners`, seconds.toFixed(2), String(requests), String(looks)]])}\n`,
  );
  if (!quick)
    report(
      timers.megabytes <= MEGABYTES,
      `1,000,000 waiting Cleaners in ${timers.megabytes.toFixed(1)} MB (limit ${MEGABYTES})`,
    );
  const rate = rates['evaluations, all conditions of a Cleaner'] ?? 0;
  report(
    rate >= EVALUATIONS_PER_SECOND,
    `${Math.round(rate).toLocaleString('en')} evaluations per second (limit ${EVALUATIONS_PER_SECOND.toLocaleString('en')})`,
  );
  report(
    looks === 0,
    `a restart evaluates ${looks} of ${count.toLocaleString('en')} waiting Cleaners (limit 0)`,
  );
}
