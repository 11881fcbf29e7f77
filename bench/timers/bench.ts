// npm run bench -- timers [--quick]: pending deadlines, in bytes and rates. Compares the lane of runtime/timers.ts
// (typed arrays, one armed wake) with a binary heap of objects and one setTimeout for each. Due times are spread over
// seven days. Each contender runs in a separate process, so that none inherits another's heap. The interned keys that
// timers point to are reported separately, since the cache needs them anyway.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { machine } from '../machine.ts';
import { markdownTable } from '../table.ts';

export interface Measured {
  readonly contender: string;
  readonly count: number;
  readonly megabytes: number;
  readonly insertPerSecond: number;
  readonly popPerSecond: number | undefined;
}

const LIMITS_MB: Readonly<Record<number, number>> = { 1000000: 60, 10000000: 500 };

function measure(contender: string, count: number): Measured {
  const script = fileURLToPath(new URL('./contenders.ts', import.meta.url));
  const options = ['--expose-gc', '--max-old-space-size=6144', script, contender, String(count)];
  return JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' })) as Measured;
}

const rate = (perSecond: number | undefined) =>
  perSecond === undefined ? '–' : `${(perSecond / 1e6).toFixed(2)} M/s`;

export default async function run(args: readonly string[]): Promise<void> {
  const quick = args.includes('--quick');
  const rounds: [string, number][] = [
    ['lane', 1_000_000],
    ['object-heap', 1_000_000],
    ['setTimeout', 1_000_000],
    ['interned-keys', 1_000_000],
    ...(quick
      ? []
      : ([
          ['lane', 10_000_000],
          ['object-heap', 10_000_000],
        ] as [string, number][])),
  ];
  const results = rounds.map(([contender, count]) => measure(contender, count));
  const rows = results.map((r) => [
    r.contender,
    r.count.toLocaleString('en'),
    r.megabytes.toFixed(1),
    ((r.megabytes * 2 ** 20) / r.count).toFixed(1),
    rate(r.insertPerSecond),
    rate(r.popPerSecond),
  ]);
  process.stdout.write(`${machine()}\n\n`);
  process.stdout.write(
    `${markdownTable(['timers', 'pending', 'MB', 'bytes each', 'insert', 'pop'], rows)}\n`,
  );
  for (const { contender, count, megabytes } of results) {
    const limit = LIMITS_MB[count];
    if (contender !== 'lane' || limit === undefined) continue;
    const result = megabytes <= limit ? 'holds' : 'FAILS';
    process.stdout.write(
      `${result}: ${count.toLocaleString('en')} pending timers in ${megabytes.toFixed(1)} MB (limit ${limit})\n`,
    );
    if (megabytes > limit) process.exitCode = 1;
  }
}
