// npm run bench -- growth [--quick] [--built] [--out DIR]: the cost of caching finished Jobs, from a thousand to a
// million, for Lapse and, as far as the memory of the machine allows, for kube-controller-manager. The server generates
// its Jobs (see server.ts), so the figures are about the controllers alone.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '../../test/kube/bed/build.ts';
import { machine } from '../machine.ts';
import { markdownTable } from '../table.ts';
import { type Contender, incumbent, lapse, type Measured, measureOne } from './contender.ts';
import { growthPicture } from './picture.ts';

const SIZES = [1000, 10_000, 100_000, 300_000, 1_000_000];
/** Above this size it needs more memory than the benchmark machines have to spare. */
const INCUMBENT_UP_TO = 300_000;

const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20).toLocaleString('en');

function table(results: readonly Measured[]): string {
  return markdownTable(
    ['Jobs', 'controller', 'RSS', 'peak', 'synced after', 'CPU to sync', 'CPU while idle'],
    results.map((r) => [
      r.jobs.toLocaleString('en'),
      r.contender,
      `${megabytes(r.rss)} MB`,
      `${megabytes(r.peak)} MB`,
      `${r.synced.toFixed(1)} s`,
      `${r.cpuToSync.toFixed(1)} s`,
      `${(r.idle * 100).toFixed(1)} %`,
    ]),
  );
}

export default async function run(args: readonly string[]): Promise<void> {
  const built = args.includes('--built');
  const script = join(import.meta.dirname, '../../scripts/build.ts');
  if (built) execFileSync(process.execPath, [script], { stdio: 'inherit' });
  const bins = await ensureBinaries();
  const sizes = args.includes('--quick') ? [1000, 5000] : SIZES;
  const results: Measured[] = [];
  for (const jobs of sizes)
    for (const contender of [incumbent(bins), lapse(built)] satisfies Contender[]) {
      if (contender.name === 'incumbent' && jobs > INCUMBENT_UP_TO) continue;
      process.stderr.write(`${contender.name}, ${jobs.toLocaleString('en')} Jobs …\n`);
      results.push(await measureOne(contender, jobs));
    }
  const text = `${machine()}\n\n${table(results)}\n`;
  process.stdout.write(`\n${text}`);
  const at = args.indexOf('--out');
  if (at === -1) return;
  const out = args[at + 1] ?? '.';
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'growth.svg'), growthPicture(results, machine()));
}
