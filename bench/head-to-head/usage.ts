// Resource usage of processes, from /proc, and request counts of the API server.

import { readdirSync, readFileSync } from 'node:fs';
import type { Bed } from '../../test/kube/bed/bed.ts';
import type { Load } from './load.ts';

const TICKS_PER_SECOND = 100;

/** The process with this text among its arguments, without shells that only wait for it. */
export function pidOf(text: string): number | undefined {
  for (const pid of readdirSync('/proc').filter((p) => /^[0-9]+$/.test(p))) {
    try {
      const [command = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (!/(^|\/)sh$/.test(command) && args.join('\0').includes(text)) return Number(pid);
    } catch {
      // It ended during the measurement.
    }
  }
  return undefined;
}

/** Seconds of CPU so far. */
export function cpuOf(pid: number): number {
  // After the name, which is in parentheses and may contain anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export interface Memory {
  readonly rss: number;
  readonly peak: number;
}

/** Bytes. */
export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { rss: of('VmRSS'), peak: of('VmHWM') };
}

export function serverPid(bed: Bed): number {
  const pid = pidOf(`--tls-cert-file=${bed.certificates.serverCertificate}`);
  if (pid === undefined) throw new Error('the API server is not running');
  return pid;
}

export type Requests = Readonly<Record<string, number>>;

/** Requests about Jobs so far: `DELETE 200`, `GET 200`. Lists and watches are not about one Job. */
export async function requestsSoFar(load: Load): Promise<Requests> {
  const text = (await load.call('GET', '/metrics')).toString();
  const counts: Record<string, number> = {};
  for (const line of text.split('\n')) {
    if (!line.startsWith('apiserver_request_total{') || !line.includes('resource="jobs"')) continue;
    if (line.includes('dry_run="All"')) continue;
    const verb = /verb="([A-Z]+)"/.exec(line)?.[1] ?? '';
    const code = /code="(\d+)"/.exec(line)?.[1] ?? '';
    const key = `${verb} ${code}`;
    counts[key] = (counts[key] ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return counts;
}

export function since(after: Requests, before: Requests): Requests {
  return Object.fromEntries(Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)]));
}

export const sumOf = (requests: Requests, pattern: RegExp): number =>
  Object.entries(requests).reduce((sum, [key, count]) => sum + (pattern.test(key) ? count : 0), 0);
