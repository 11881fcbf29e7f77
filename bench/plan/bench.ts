// npm run bench -- plan [--quick]: duration and memory of `lapse plan` on a real API server with many finished Jobs,
// compared with kubectl fetching the same Jobs without processing them. The goal is 10 s for a hundred thousand.

import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Bed, startBed } from '../../test/kube/bed/bed.ts';
import { plantCrowd } from '../../test/kube/plan/crowd.ts';
import { runPlan } from '../../test/kube/plan/process.ts';
import { machine } from '../machine.ts';
import { markdownTable, ratio } from '../table.ts';

const SIZES = [1000, 10_000, 100_000];
const ROUNDS = 3;
const WAYS: Readonly<Record<string, readonly string[]>> = {
  plan: [],
  'plan --no-cascade': ['--no-cascade'],
};

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

/** Seconds; the fetched objects are discarded. */
async function fetchAll(bed: Bed): Promise<number> {
  const began = performance.now();
  const args = [`--kubeconfig=${bed.kubeconfig}`, 'get', 'jobs', '-A', '-o', 'json'];
  const child = execFile(bed.bins.kubectl, args, { maxBuffer: Number.POSITIVE_INFINITY });
  await pipeline(child.stdout!, createWriteStream('/dev/null'));
  return (performance.now() - began) / 1000;
}

async function measure(bed: Bed, size: number): Promise<string[][]> {
  const fetches: number[] = [];
  for (let round = 0; round < ROUNDS; round++) fetches.push(await fetchAll(bed));
  const peer = median(fetches);
  const rows = [
    [size.toLocaleString('en'), 'kubectl get jobs -o json', `${peer.toFixed(1)} s`, '', '', '1×'],
  ];
  for (const [name, args] of Object.entries(WAYS)) {
    const runs = [];
    for (let round = 0; round < ROUNDS; round++)
      runs.push(await runPlan([...args, '-o', 'json'], bed.kubeconfig));
    const failed = runs.find(({ code }) => code !== 0);
    if (failed !== undefined) throw new Error(`lapse ${name} ended with ${failed.code}: ${failed.stderr}`);
    const seconds = median(runs.map((run) => run.seconds));
    const cpu = median(runs.map((run) => run.cpuSeconds));
    const peak = Math.max(...runs.map((run) => run.peak));
    rows.push([
      size.toLocaleString('en'),
      `lapse ${name}`,
      `${seconds.toFixed(1)} s`,
      `${cpu.toFixed(1)} s`,
      `${Math.round(peak / 2 ** 20)} MB`,
      ratio(seconds, peer),
    ]);
  }
  return rows;
}

export default async function run(args: readonly string[]): Promise<void> {
  const rows: string[][] = [];
  for (const size of args.includes('--quick') ? SIZES.slice(0, 2) : SIZES) {
    process.stderr.write(`${size.toLocaleString('en')} Jobs …\n`);
    const bed = await startBed();
    try {
      await plantCrowd(bed, size, Date.now());
      rows.push(...(await measure(bed, size)));
    } finally {
      await bed.stop();
    }
  }
  process.stdout.write(
    `\n${machine()}\n\n${markdownTable(['Jobs', 'what', 'median', 'CPU', 'most memory', 'against kubectl'], rows)}\n`,
  );
}
