// The contenders: processes that are given the same kubeconfig and nothing else.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bed } from '../../test/kube/bed/bed.ts';
import { type Supervised, supervise } from '../../test/kube/bed/processes.ts';
import { pidOf } from './usage.ts';

export interface Contender {
  readonly name: 'incumbent' | 'incumbent, tuned' | 'lapse' | 'raw DELETE loop';
  /** Command and arguments. */
  readonly command: (bed: Bed, kubeconfig: string) => readonly string[];
}

export interface Running {
  readonly pid: number;
  /** When it was started, by the wall clock in milliseconds. */
  readonly startedAt: number;
  stop(): Promise<void>;
  tail(): string;
}

const incumbent = (bed: Bed, kubeconfig: string, more: readonly string[]) => [
  bed.bins['kube-controller-manager'],
  `--kubeconfig=${kubeconfig}`,
  '--controllers=ttl-after-finished-controller',
  '--leader-elect=false',
  '--use-service-account-credentials=false',
  '--enable-garbage-collector=false',
  '--secure-port=0',
  ...more,
];

export const INCUMBENT: Contender = {
  name: 'incumbent',
  command: (bed, kubeconfig) =>
    incumbent(bed, kubeconfig, [
      '--kube-api-qps=20',
      '--kube-api-burst=30',
      '--concurrent-ttl-after-finished-syncs=5',
    ]),
};
export const TUNED: Contender = {
  name: 'incumbent, tuned',
  command: (bed, kubeconfig) =>
    incumbent(bed, kubeconfig, [
      '--kube-api-qps=2000',
      '--kube-api-burst=2000',
      '--concurrent-ttl-after-finished-syncs=100',
    ]),
};
const root = join(import.meta.dirname, '../..');
const FROM_SOURCE = [join(root, 'bin/lapse')];
/** As published: compiled, with the flags and the environment of bin/lapse. */
const BUILT = [
  '/usr/bin/env',
  'MALLOC_ARENA_MAX=2',
  'MALLOC_MMAP_THRESHOLD_=131072',
  'MALLOC_TRIM_THRESHOLD_=131072',
  process.execPath,
  '--max-semi-space-size=4',
  '--heap-growing-percent=40',
  join(root, 'dist/lapse/src/cli/main.js'),
];

export const program = (built: boolean): readonly string[] => (built ? BUILT : FROM_SOURCE);

export const lapse = (built: boolean): Contender => ({
  name: 'lapse',
  command: (_bed, kubeconfig) => [
    ...program(built),
    'run',
    `--kubeconfig=${kubeconfig}`,
    '--controllers=ttl-after-finished',
    '--leader-elect=false',
    '--metrics-bind-address=0',
    '--log-format=json',
    '--verbosity=warn',
  ],
});
/** No list, no watch, no decision: the maximum rate of DELETEs. */
export const raw = (prefix: string, count: number): Contender => ({
  name: 'raw DELETE loop',
  command: (bed, kubeconfig) => [
    process.execPath,
    fileURLToPath(new URL('./rawDeletes.ts', import.meta.url)),
    kubeconfig,
    bed.url,
    bed.caFile,
    prefix,
    String(count),
  ],
});

let runs = 0;

export async function start(contender: Contender, bed: Bed): Promise<Running> {
  // A unique name, by which the process is found.
  const kubeconfig = join(bed.directory, `contender-${++runs}.kubeconfig`);
  copyFileSync(bed.kubeconfig, kubeconfig);
  const [binary = '', ...args] = contender.command(bed, kubeconfig);
  const startedAt = performance.timeOrigin + performance.now();
  const process = supervise(binary, args, join(bed.directory, `contender-${runs}.log`));
  return {
    pid: await findPid(kubeconfig, process),
    startedAt,
    stop: () => process.kill(),
    tail: () => process.tail(),
  };
}

async function findPid(kubeconfig: string, process: Supervised): Promise<number> {
  for (let attempt = 0; attempt < 200 && process.isRunning(); attempt++) {
    const pid = pidOf(kubeconfig);
    if (pid !== undefined) return pid;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${process.name} did not start:\n${process.tail()}`);
}
