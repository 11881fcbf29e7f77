// npm run bench -- runtime-memory [--quick]: the cost of a cached Job, complete and in the TTL projection, and of a
// waiting Cleaner.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { machine } from '../machine.ts';
import { markdownTable } from '../table.ts';
import type { ObjectCost, SubjectName } from './measure.ts';

export const LIMIT_BYTES = 700;
export const CLEANER_LIMIT_BYTES = 350;

/** In a separate process, with an unused heap. */
export function measureCost(count: number, projection: SubjectName): ObjectCost {
  const script = fileURLToPath(new URL('./measure.ts', import.meta.url));
  const options = ['--expose-gc', '--max-old-space-size=4096', script, String(count), projection];
  return JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' })) as ObjectCost;
}

export default async function run(args: readonly string[]): Promise<void> {
  const sizes = args.includes('--quick') ? [10_000] : [100_000, 1_000_000];
  const rounds: [number, SubjectName][] = [
    [sizes[0]!, 'whole'],
    ...sizes.map((n): [number, SubjectName] => [n, 'ttl']),
    [sizes[0]!, 'cleaner'],
  ];
  const costs = rounds.map(([count, projection]) => measureCost(count, projection));
  const rows = costs.map((c) => [
    c.count.toLocaleString('en'),
    c.projection,
    String(c.wireBytes),
    c.heapBytesEach.toFixed(0),
    c.arrayBytesEach.toFixed(1),
    `${Math.round(c.count / c.seconds).toLocaleString('en')}/s`,
  ]);
  process.stdout.write(`${machine()}\n\n`);
  const header = [
    'objects',
    'projection',
    'bytes on the wire',
    'heap bytes each',
    'typed arrays each',
    'cached',
  ];
  process.stdout.write(`${markdownTable(header, rows)}\n`);
}
