// `lapse plan` as a process: its output, its duration, and its peak memory.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const lapse = join(import.meta.dirname, '../../../bin/lapse');

export interface PlanRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes. */
  readonly peak: number;
  readonly seconds: number;
  /** CPU time, independent of the load of the machine. Sampled from time to time, so slightly too low. */
  readonly cpuSeconds: number;
}

/** `heap`: the heap limit in megabytes. */
export async function runPlan(args: readonly string[], kubeconfig: string, heap?: number): Promise<PlanRun> {
  const options = heap === undefined ? {} : { NODE_OPTIONS: `--max-old-space-size=${heap}` };
  const began = performance.now();
  const child = spawn(lapse, ['plan', '--kubeconfig', kubeconfig, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options },
  });
  const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout.on('data', (chunk: Buffer) => said.stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.stderr.push(chunk));
  let peak = 0;
  let cpuSeconds = 0;
  const looking = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid!));
    cpuSeconds = Math.max(cpuSeconds, cpuOf(child.pid!));
  }, 50);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearInterval(looking);
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString();
  return {
    code,
    stdout: text(said.stdout),
    stderr: text(said.stderr),
    peak,
    cpuSeconds,
    seconds: (performance.now() - began) / 1000,
  };
}

/** bin/lapse execs the process, so its id is the right one. */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

const TICKS_PER_SECOND = 100;

/** User and kernel time: the 14th and 15th field; the second is the process name, in parentheses. */
function cpuOf(pid: number): number {
  try {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user, system] = fields.split(' ').slice(11, 13).map(Number);
    return (user! + system!) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
