// How long reading very many Jobs blocks the server: the longest pause of its event loop, while a client in another
// process reads them all over a socket, in pages and at once.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { markdownTable } from '../table.ts';

export interface Pauses {
  /** Milliseconds, the resolution of 1 ms included. */
  readonly longest: number;
  /** The 99th percentile. */
  readonly common: number;
}

const GOAL_MS = 50;
const IDLE_MS = 2000;
// As kubectl and client-go read.
const PAGE = 500;
const JOBS = '/apis/batch/v1/namespaces/default/jobs';

export async function measurePaging(count: number): Promise<string> {
  const server = fork(new URL('./pagingServer.ts', import.meta.url), [String(count)]);
  process.stderr.write(`storing ${count.toLocaleString('en')} Jobs …\n`);
  try {
    const { url } = await told<{ url: string }>(server);
    // Warm up both sides: connections, JIT, caches.
    await readPages(url + JOBS);
    const rows: string[][] = [];
    for (const way of WAYS) {
      server.send('begin');
      await told(server);
      const begin = performance.now();
      const seen = await way.read(url + JOBS);
      const took = performance.now() - begin;
      if (seen !== 0 && seen !== count) throw new Error(`${seen} of ${count} Jobs were read`);
      server.send('end');
      rows.push(rowOf(way, took, await told<Pauses>(server)));
    }
    const header = [
      `${count.toLocaleString('en')} Jobs`,
      's',
      '99 % of pauses, ms',
      'longest, ms',
      'goal',
      '',
    ];
    return markdownTable(header, rows);
  } finally {
    server.kill();
  }
}

async function told<T>(server: ChildProcess): Promise<T> {
  const ended = once(server, 'exit').then(() => Promise.reject(new Error('the server ended')));
  const [message] = await Promise.race([once(server, 'message'), ended]);
  return message as T;
}

interface Way {
  readonly how: string;
  /** The number of Jobs it saw. */
  readonly read: (url: string) => Promise<number>;
  readonly goal?: number;
}

const WAYS: readonly Way[] = [
  // The baseline of the machine.
  { how: 'no requests', read: () => sleep(IDLE_MS, 0) },
  { how: `in pages of ${PAGE}`, read: readPages, goal: GOAL_MS },
  { how: 'at once', read: async (url) => jobsIn(await readBytes(url)) },
];

async function readBytes(url: string): Promise<Buffer> {
  const { statusCode, body } = await request(url);
  if (statusCode !== 200) throw new Error(`GET ${url}: ${statusCode}`);
  return Buffer.from(await body.arrayBuffer());
}

async function readPages(url: string): Promise<number> {
  let seen = 0;
  let rest = '';
  do {
    const page = await readBytes(`${url}?limit=${PAGE}${rest}`);
    seen += jobsIn(page);
    const token = /"continue":"([^"]+)"/.exec(page.toString('latin1', 0, HEAD_BYTES));
    rest = token === null ? '' : `&continue=${token[1]}`;
  } while (rest !== '');
  return seen;
}

// The client shares the machine, so it only scans the bytes and parses nothing.
const HEAD_BYTES = 1000;
const NAME = Buffer.from('"name":"j-');

function jobsIn(page: Buffer): number {
  let count = 0;
  for (let at = page.indexOf(NAME); at >= 0; at = page.indexOf(NAME, at + NAME.length)) count++;
  return count;
}

function rowOf({ how, goal }: Way, took: number, { longest, common }: Pauses): string[] {
  const result = goal === undefined ? ['–', ''] : [String(goal), longest < goal ? 'holds' : 'missed'];
  return [how, (took / 1000).toFixed(1), common.toFixed(1), longest.toFixed(1), ...result];
}
