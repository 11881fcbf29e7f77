// A separate process with the webhook's socket and limits, so that its memory can be measured; and a client that sends
// bodies to it. Run with `serve` as its argument, this file is that process.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { anonymous } from '@lapse/kube/client/credentials';
import type { Transport } from '@lapse/kube/client/transport';
import { listen } from '@lapse/runtime/host/listen';
import type { AdmissionFunction } from '@lapse/runtime/host/review';
import { reviewPath } from '@lapse/runtime/host/reviewPaths';
import { webhookHandler } from '@lapse/runtime/host/webhook';
import { Registry } from '@lapse/runtime/metrics/registry';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import { REVIEW_BOUNDS } from 'lapse/manager/webhookHost';

const FILE = fileURLToPath(import.meta.url);
const SECRET = 'secret';

export interface Report {
  /** Largest resident memory so far, in bytes. */
  readonly peak: number;
  /** Maximum number of concurrent reviews. */
  readonly mostAtOnce: number;
  readonly metrics: string;
}

export interface ReviewHost {
  readonly port: number;
  /** Path of a function without effects. */
  readonly path: string;
  /** Path of the functions of all families, which need a cluster and have none here. */
  readonly paths: readonly string[];
  report(): Promise<Report>;
  close(): void;
}

/** The admission functions of all families, without a cluster. */
async function familyFunctions(): Promise<readonly AdmissionFunction[]> {
  const { FAMILIES } = await import('lapse/controllers/registry');
  const { assemble } = await import('lapse/manager/assemble');
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {} });
  const transport = (async () => {
    throw new Error('no cluster');
  }) as unknown as Transport;
  const { families } = assemble({
    connection: { transport, leaseTransport: transport, credentials: anonymous, namespace: 'default' },
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: FAMILIES,
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    identity: 'one',
  });
  return families.flatMap(({ admission }) => admission);
}

async function serve(): Promise<void> {
  const registry = new Registry();
  const families = process.argv[3] === 'families' ? await familyFunctions() : [];
  let [now, mostAtOnce] = [0, 0];
  const hook = webhookHandler({
    functions: [
      ...families,
      {
        name: 'counted',
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
    callers: { paths: { accepted: () => [SECRET], refreshSoon: () => {} } },
  });
  const { port } = await listen({ ...hook, ...REVIEW_BOUNDS, port: 0, address: '127.0.0.1' });
  process.on('message', () => {
    const peak = process.resourceUsage().maxRSS * 1024;
    process.send?.({ peak, mostAtOnce, metrics: registry.text() } satisfies Report);
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port, names: families.map(({ name }) => name) });
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

/** `families`: with their functions, which takes longer to start. */
export async function forkReviewHost(families?: 'families'): Promise<ReviewHost> {
  const child = fork(FILE, ['serve', ...(families === undefined ? [] : [families])], { execArgv: [] });
  const { port, names } = await answerOf<{ port: number; names: string[] }>(child);
  return {
    port,
    path: reviewPath('counted', SECRET),
    paths: names.map((name) => reviewPath(name, SECRET)),
    report() {
      child.send('report');
      return answerOf<Report>(child);
    },
    close: () => child.kill(),
  };
}

/** The status of the answer; 0 if the host closed the connection while the body was sent. */
export const send = (port: number, path: string, body: Uint8Array): Promise<number> =>
  new Promise((resolve) => {
    const call = request({ port, host: '127.0.0.1', path, method: 'POST', agent: false });
    call.on('response', (answer) => resolve(answer.resume().statusCode!));
    call.on('error', () => resolve(0));
    call.end(body);
  });

if (process.argv[1] === FILE && process.argv[2] === 'serve') await serve();
