// npm run bench -- checkpoint [--quick] [--kubernetes]: capture of 10,000 ConfigMaps of 1 kB, compared with reading
// them with the same client, sixteen at once; memory of the capturing process; and whether compression stays linear.
// The server is a separate process: the embedded one, or a real kube-apiserver.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeAll } from 'lapse/checkpoint/checkpoint.testkit';
import { manifestCapture } from 'lapse/controllers/manifest-capture/family';
import { Load } from '../apiserver/load.ts';
import { type BenchTarget, startKubernetes, startLapse } from '../apiserver/targets.ts';
import { machine } from '../machine.ts';
import { markdownTable, ratio } from '../table.ts';
import { settings } from './objects.ts';
import type { Figures } from './subject.ts';

/** This many times, alternating. The fastest run counts, because load can only slow a run down. */
const ROUNDS = 2;

async function furnish(target: BenchTarget, count: number): Promise<void> {
  const load = new Load(target);
  for (const { crd } of manifestCapture.kinds)
    await load.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  await load.rate(count, (i) => load.call('POST', '/api/v1/namespaces/default/configmaps', settings(i)));
  await load.close();
}

function run(what: 'read' | 'capture', target: BenchTarget, caFile: string, count: number): Figures {
  const script = join(import.meta.dirname, 'subject.ts');
  const args = ['--expose-gc', script, what, target.url, caFile, target.token, String(count)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Figures;
}

const fastest = (all: readonly Figures[]): Figures => all.reduce((a, b) => (b.seconds < a.seconds ? b : a));

async function measureCapture(target: BenchTarget, count: number): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-bench-'));
  const caFile = join(directory, 'ca.crt');
  writeFileSync(caFile, target.ca);
  await furnish(target, count);
  const reads: Figures[] = [];
  const captures: Figures[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    reads.push(run('read', target, caFile, count));
    captures.push(run('capture', target, caFile, count));
  }
  rmSync(directory, { recursive: true });
  const [peer, ours] = [fastest(reads), fastest(captures)];
  const row = (name: string, { seconds, cpuSeconds, peakMb, chunks }: Figures) => [
    name,
    seconds.toFixed(2),
    ratio(seconds, peer.seconds),
    cpuSeconds.toFixed(2),
    peakMb.toFixed(0),
    String(chunks),
  ];
  const header = [
    `${count.toLocaleString('en')} ConfigMaps`,
    's',
    'to reading',
    'CPU s',
    'peak MiB',
    'chunks',
  ];
  return markdownTable(header, [row('read, 16 at once', peer), row('captured', ours)]);
}

/** CPU time to turn objects into chunks, for growing numbers of them. */
function measureCompression(count: number): string {
  const rows: string[][] = [];
  let first = 0;
  for (const times of [1, 2, 4]) {
    const objects = Array.from({ length: count * times }, (_, i) => settings(i));
    const best = Math.min(
      ...Array.from({ length: 2 }, () => {
        const begin = process.cpuUsage();
        encodeAll(objects);
        const { user, system } = process.cpuUsage(begin);
        return (user + system) / 1000;
      }),
    );
    first ||= best;
    rows.push([(count * times).toLocaleString('en'), best.toFixed(0), ratio(best, first), `${times}×`]);
  }
  return markdownTable(['objects into chunks', 'CPU ms', 'to the first', 'linear'], rows);
}

export default async function bench(args: readonly string[]): Promise<void> {
  const count = args.includes('--quick') ? 1000 : 10_000;
  const target = args.includes('--kubernetes') ? await startKubernetes() : await startLapse('memory');
  try {
    const captured = await measureCapture(target, count);
    process.stdout.write(`\n${machine()}, ${target.name}\n\n${captured}\n\n${measureCompression(count)}\n`);
  } finally {
    await target.stop();
  }
}
