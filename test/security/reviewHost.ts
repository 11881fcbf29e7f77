// A process of its own with the webhook's socket and bounds, so that its memory can be measured; and a client that sends
// bodies to it. Run with `serve` as its argument, this file is that process.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { realClock } from '#base/clock';
import { silentLog } from '#base/log';
import { REVIEW_BOUNDS } from '#cmd/webhookHost';
import { listen } from '#runtime/host/listen';
import { webhookHandler } from '#runtime/host/webhook';
import { Registry } from '#runtime/metrics/registry';

const FILE = fileURLToPath(import.meta.url);
const SECRET = 'secret';

export interface Report {
  /** Largest resident memory so far, in bytes. */
  readonly peak: number;
  /** Most reviews under way at once. */
  readonly mostAtOnce: number;
  readonly metrics: string;
}

export interface ReviewHost {
  readonly port: number;
  /** Where it answers. */
  readonly path: string;
  report(): Promise<Report>;
  close(): void;
}

async function serve(): Promise<void> {
  const registry = new Registry();
  let [now, mostAtOnce] = [0, 0];
  const hook = webhookHandler({
    functions: [
      {
        name: 'ttl-policy',
        resources: ['ttlpolicies.lapse.dev'],
        phase: 'validating',
        async review() {
          mostAtOnce = Math.max(mostAtOnce, ++now);
          await new Promise((resolve) => setImmediate(resolve));
          now--;
          return { allowed: true };
        },
      },
    ],
    clock: realClock,
    log: silentLog,
    registry,
    callers: { paths: { accepted: () => [SECRET], lookSoon: () => {} } },
  });
  const { port } = await listen({ ...hook, ...REVIEW_BOUNDS, port: 0, address: '127.0.0.1' });
  process.on('message', () => {
    const peak = process.resourceUsage().maxRSS * 1024;
    process.send?.({ peak, mostAtOnce, metrics: registry.text() } satisfies Report);
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port });
}

const answerOf = async <T>(child: ChildProcess): Promise<T> => {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the host ended with ${code}`);
    }),
  ]);
  return message as T;
};

export async function forkReviewHost(): Promise<ReviewHost> {
  const child = fork(FILE, ['serve'], { execArgv: [] });
  const { port } = await answerOf<{ port: number }>(child);
  return {
    port,
    path: `/review/${SECRET}/ttl-policy`,
    report() {
      child.send('report');
      return answerOf<Report>(child);
    },
    close: () => child.kill(),
  };
}

/** The status of the answer; 0 when the host closed the connection while the body was sent. */
export const send = (port: number, path: string, body: Uint8Array): Promise<number> =>
  new Promise((resolve) => {
    const call = request({ port, host: '127.0.0.1', path, method: 'POST', agent: false });
    call.on('response', (answer) => resolve(answer.resume().statusCode!));
    call.on('error', () => resolve(0));
    call.end(body);
  });

if (process.argv[1] === FILE && process.argv[2] === 'serve') await serve();
