// `measure.ts COUNT whole|ttl`, alone in its process with --expose-gc: what a cached Job costs, as JSON. The Jobs arrive
// as bytes through the client, in pages, like from a real server; each is about 2.6 kB with its managedFields.

import type { HttpHandler } from '#api/http';
import { Job } from '#api/kinds/builtin';
import { realClock } from '#base/clock';
import { seededRandom } from '#base/random';
import { createClient } from '#client/client';
import { inProcessTransport } from '#client/inProcess';
import { jobs } from '#controllers/ttl-after-finished/job';
import { Caches } from '#runtime/caches';
import { Interner } from '#runtime/interner';
import { job } from './job.ts';

export interface JobCost {
  readonly count: number;
  readonly projection: string;
  /** Of one Job as it arrives. */
  readonly wireBytes: number;
  readonly heapBytesEach: number;
  readonly arrayBytesEach: number;
  readonly seconds: number;
}

const random = seededRandom(3);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Lists `count` Jobs in pages and keeps none of them; the watch stays silent. */
const serverOf =
  (count: number): HttpHandler =>
  async ({ path, signal }) => {
    const query = new URL(path, 'http://x').searchParams;
    const headers = { 'content-type': 'application/json' };
    if (query.get('watch') === 'true') {
      const silent = async function* () {
        await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
      };
      return { status: 200, headers, body: silent() };
    }
    const from = Number(query.get('continue') ?? 0);
    const to = Math.min(count, from + Number(query.get('limit')));
    const items = Array.from({ length: to - from }, (_, i) => job(from + i));
    const metadata = { resourceVersion: '99999999', ...(to < count ? { continue: String(to) } : {}) };
    return {
      status: 200,
      headers,
      body: encode({ kind: 'JobList', apiVersion: 'batch/v1', metadata, items }),
    };
  };

function used(): { heap: number; arrays: number } {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed, arrays: arrayBuffers };
}

async function measure(count: number, projection: string): Promise<JobCost> {
  const wireBytes = encode(job(0)).length;
  const client = createClient({
    transport: inProcessTransport(serverOf(count)),
    clock: realClock,
    random,
    flow: 'none',
  });
  const caches = new Caches({ client, clock: realClock, random, interner: new Interner(), listBy: 'pages' });
  const before = used();
  const start = performance.now();
  const synced = Promise.withResolvers<void>();
  const handle = caches.acquire<Job>({
    kind: Job,
    ...(projection === 'ttl' ? { projection: jobs.projection } : {}),
  });
  handle.onStatus((status) => (status.synced ? synced.resolve() : undefined));
  await synced.promise;
  const seconds = (performance.now() - start) / 1000;
  const after = used();
  if (handle.reader.size !== count) throw new Error(`${handle.reader.size} of ${count} cached`);
  return {
    count,
    projection,
    wireBytes,
    heapBytesEach: (after.heap - before.heap) / count,
    arrayBytesEach: (after.arrays - before.arrays) / count,
    seconds,
  };
}

const [count = '100000', projection = 'ttl'] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measure(Number(count), projection)));
process.exit();
