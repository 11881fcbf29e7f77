// The servers under test: each runs in separate processes, reached over TLS on loopback with a bearer token.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBed } from '../../test/kube/bed/bed.ts';
import { startServerProcess } from '../../test/robustness/serverProcess.ts';
import { Load } from './load.ts';
import { type Published, serve } from './published.ts';

export interface BenchTarget {
  readonly name: string;
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  /** Milliseconds from starting the processes to the first answered request. */
  readonly startup: number;
  /** Resident memory of all its processes, in bytes. */
  readonly rss: () => number;
  readonly stop: () => Promise<void>;
}

export async function startLapse(store: 'sqlite' | 'memory'): Promise<BenchTarget> {
  const data = mkdtempSync(join(tmpdir(), 'lapse-bench-'));
  const begin = performance.now();
  const server = await startServerProcess(data, ['--store', store]);
  await server.call('GET', '/api/v1/namespaces/default');
  const startup = performance.now() - begin;
  return {
    name: `lapse (${store})`,
    url: server.url,
    ca: readFileSync(join(data, 'ca.crt'), 'utf8'),
    token: readFileSync(join(data, 'token'), 'utf8').trim(),
    startup,
    rss: () => rssOf(data),
    stop: async () => {
      await server.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

export async function startPublished(store: 'sqlite' | 'memory', published: Published): Promise<BenchTarget> {
  const data = mkdtempSync(join(tmpdir(), 'lapse-bench-'));
  const begin = performance.now();
  const server = await serve(published, data, store);
  const target = {
    name: `lapse (${store})`,
    url: server.url,
    ca: readFileSync(join(data, 'ca.crt'), 'utf8'),
    token: readFileSync(join(data, 'token'), 'utf8').trim(),
    startup: 0,
    rss: () => rssOf(data),
    stop: async () => {
      await server.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
  const first = new Load(target);
  await first.call('GET', '/api/v1/namespaces/default');
  const startup = performance.now() - begin;
  await first.close();
  return { ...target, startup };
}

export async function startKubernetes(): Promise<BenchTarget> {
  const begin = performance.now();
  const bed = await startBed();
  await bed.getJson('/api/v1/namespaces/kube-system');
  const startup = performance.now() - begin;
  return {
    name: 'kube-apiserver + etcd',
    url: bed.url,
    ca: readFileSync(bed.caFile, 'utf8'),
    token: bed.adminToken,
    startup,
    rss: () => rssOf(bed.directory),
    stop: () => bed.stop(),
  };
}

/** Processes are recognised by the data directory in their arguments. */
function rssOf(directory: string): number {
  let total = 0;
  for (const pid of readdirSync('/proc').filter((p) => /^[0-9]+$/.test(p))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory)) continue;
      const kilobytes = /^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
      total += Number(kilobytes?.[1] ?? 0) * 1024;
    } catch {
      // The process ended during the measurement.
    }
  }
  return total;
}
