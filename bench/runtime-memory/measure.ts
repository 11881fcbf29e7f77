// `measure.ts COUNT whole|ttl|cleaner`, in a separate process with --expose-gc: the cost of a cached Job (complete or
// in the TTL projection) or of a waiting Cleaner, as JSON. The objects arrive as bytes through the client, in pages, as
// from a real server; each is 2 to 4 kB with its managedFields.

import { realClock } from '@lapse/base/clock';
import { seededRandom } from '@lapse/base/random';
import type { HttpHandler } from '@lapse/kube/api/http';
import { Job } from '@lapse/kube/api/kinds/builtin';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { Caches } from '@lapse/runtime/caches';
import { Interner } from '@lapse/runtime/interner';
import type { Source } from '@lapse/runtime/source';
import { Cleaner } from 'lapse/api/cleaner';
import { cleanerProjection } from 'lapse/controllers/cleaner/projection';
import { jobs } from 'lapse/expiry/job';
import { storedCleaner } from '../cleaner/waitingCleaner.ts';
import { job } from './job.ts';

export interface ObjectCost {
  readonly count: number;
  readonly projection: SubjectName;
  /** Bytes of one object as received. */
  readonly wireBytes: number;
  readonly heapBytesEach: number;
  readonly arrayBytesEach: number;
  readonly seconds: number;
}

interface Subject {
  readonly source: Source;
  make(i: number): KubeObject;
}

const SUBJECTS = {
  whole: { source: { kind: Job }, make: (i: number) => job(i) },
  ttl: { source: { kind: Job, projection: jobs.projection }, make: (i: number) => job(i) },
  cleaner: { source: { kind: Cleaner, projection: cleanerProjection }, make: storedCleaner },
} as unknown as Record<'whole' | 'ttl' | 'cleaner', Subject>;
export type SubjectName = keyof typeof SUBJECTS;

const random = seededRandom(3);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Lists `count` objects in pages and keeps none of them; the watch sends no events. */
const serverOf =
  (count: number, { source: { kind }, make }: Subject): HttpHandler =>
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
    const items = Array.from({ length: to - from }, (_, i) => make(from + i));
    const metadata = { resourceVersion: '99999999', ...(to < count ? { continue: String(to) } : {}) };
    return {
      status: 200,
      headers,
      body: encode({ kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata, items }),
    };
  };

function used(): { heap: number; arrays: number } {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed, arrays: arrayBuffers };
}

async function measure(count: number, projection: SubjectName): Promise<ObjectCost> {
  const subject = SUBJECTS[projection];
  const wireBytes = encode(subject.make(0)).length;
  const client = createClient({
    transport: inProcessTransport(serverOf(count, subject)),
    clock: realClock,
    random,
    flow: 'none',
  });
  const caches = new Caches({ client, clock: realClock, random, interner: new Interner(), listBy: 'pages' });
  const before = used();
  const start = performance.now();
  const synced = Promise.withResolvers<void>();
  const handle = caches.acquire(subject.source);
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
process.stdout.write(JSON.stringify(await measure(Number(count), projection as SubjectName)));
process.exit();
