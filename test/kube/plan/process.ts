// `lapse plan` as a process: what it says, how long it took, and the most memory it ever had.

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
}

/** `heap`: the most memory its objects may take, in megabytes. */
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
  const looking = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid!));
  }, 50);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearInterval(looking);
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString();
  return {
    code,
    stdout: text(said.stdout),
    stderr: text(said.stderr),
    peak,
    seconds: (performance.now() - began) / 1000,
  };
}

/** bin/lapse becomes the process itself, so its id is the right one. */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
