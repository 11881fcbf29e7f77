// One controller, one size: started with a separate server, measured until it has deleted the one object that is due.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Binaries } from '../../test/kube/bed/build.ts';
import { supervise } from '../../test/kube/bed/processes.ts';
import { lapse as lapseContender } from '../head-to-head/contenders.ts';
import { cpuOf, memoryOf, pidOf } from '../head-to-head/usage.ts';

export interface Contender {
  readonly name: 'incumbent' | 'lapse';
  readonly command: (kubeconfig: string) => readonly string[];
}

export interface Usage {
  /** Bytes, a while after the cache was filled; and the peak. */
  readonly rss: number;
  readonly peak: number;
  /** Bytes of the JavaScript heap; undefined for other processes. */
  readonly heap?: number;
  /** Seconds from the start of the process to the deletion of the object that was due, and the CPU seconds until then. */
  readonly synced: number;
  readonly cpuToSync: number;
  /** Share of one core while nothing happens. */
  readonly idle: number;
}

export interface Measured extends Usage {
  readonly contender: Contender['name'];
  readonly jobs: number;
}

const IDLE_MS = 5000;
const LIMIT_MS = 300_000;

export const incumbent = (bins: Binaries): Contender => ({
  name: 'incumbent',
  command: (kubeconfig) => [
    bins['kube-controller-manager'],
    `--kubeconfig=${kubeconfig}`,
    '--controllers=ttl-after-finished-controller',
    '--leader-elect=false',
    '--use-service-account-credentials=false',
    '--enable-garbage-collector=false',
    '--secure-port=0',
  ],
});

export const lapse = (built: boolean): Contender => ({
  name: 'lapse',
  command: (kubeconfig) => lapseContender(built).command(undefined as never, kubeconfig),
});

/** Resolves when the server prints `word`. */
function said(server: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.stdout?.on('data', (chunk: Buffer) => chunk.toString().includes(word) && resolve());
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    setTimeout(
      () => reject(new Error(`the server did not say "${word}" within ${LIMIT_MS / 1000} s`)),
      LIMIT_MS,
    ).unref();
  });
}

async function pidSoon(text: string): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const pid = pidOf(text);
    if (pid !== undefined) return pid;
    await sleep(5);
  }
  throw new Error('the controller did not start');
}

/** Asks a Node process that was started with `--report-on-signal` for its diagnostic report. */
async function heapOf(pid: number, directory: string): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  for (let attempt = 0; attempt < 200; attempt++) {
    await sleep(50);
    const report = readdirSync(directory).find((name) => name.startsWith('report.'));
    const text = report === undefined ? '' : readFileSync(join(directory, report), 'utf8');
    if (text.trimEnd().endsWith('}')) return JSON.parse(text).javascriptHeap.usedMemory as number;
  }
  throw new Error('the controller wrote no diagnostic report');
}

interface Measuring {
  readonly count: number;
  /** The server: called with the count and a directory, where it writes `kubeconfig`. Prints `ready` and `deleted`. */
  readonly script: string;
  readonly command: Contender['command'];
  readonly isNode: boolean;
}

export async function measureController({ count, script, command, isNode }: Measuring): Promise<Usage> {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-growth-'));
  const server = spawn(process.execPath, [script, String(count), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await said(server, 'ready');
    const deleted = said(server, 'deleted');
    const kubeconfig = join(directory, 'kubeconfig');
    const options = `NODE_OPTIONS=--report-on-signal --report-directory=${directory}`;
    const start = performance.now();
    const controller = supervise('/usr/bin/env', [options, ...command(kubeconfig)], join(directory, 'log'));
    try {
      const pid = await pidSoon(`--kubeconfig=${kubeconfig}`);
      await deleted;
      const synced = (performance.now() - start) / 1000;
      const cpuToSync = cpuOf(pid);
      await sleep(IDLE_MS);
      const settled = cpuOf(pid);
      await sleep(IDLE_MS);
      const idle = ((cpuOf(pid) - settled) * 1000) / IDLE_MS;
      const memory = memoryOf(pid);
      const heap = isNode ? { heap: await heapOf(pid, directory) } : {};
      return { ...memory, ...heap, synced, cpuToSync, idle };
    } catch (cause) {
      throw new Error(`${count} objects: ${controller.tail()}`, { cause });
    } finally {
      await controller.kill();
    }
  } finally {
    server.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function measureOne({ name, command }: Contender, jobs: number): Promise<Measured> {
  const script = fileURLToPath(new URL('./server.ts', import.meta.url));
  const usage = await measureController({ count: jobs, script, command, isNode: name === 'lapse' });
  return { contender: name, jobs, ...usage };
}
