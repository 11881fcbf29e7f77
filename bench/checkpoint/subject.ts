// A separate process, so that memory is that of one subject: reads the ConfigMaps, or captures them with the controller
// as assembled by `lapse run`. Prints one line of JSON.
//   node --expose-gc bench/checkpoint/subject.ts read|capture URL CA_FILE TOKEN COUNT

import { readFileSync } from 'node:fs';
import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { apiVersionOf } from '@lapse/kube/api/object';
import { createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { undiciTransport } from '@lapse/kube/client/undici';
import { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { manifestCapture } from 'lapse/controllers/manifest-capture/family';
import { FAMILIES } from 'lapse/controllers/registry';
import { assemble } from 'lapse/manager/assemble';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import { nameOf } from './objects.ts';

export interface Figures {
  readonly seconds: number;
  /** Growth since the start of the measurement, in MiB: heap and buffers. */
  readonly peakMb: number;
  readonly cpuSeconds: number;
  readonly chunks: number;
}

const [what = '', server = '', caFile = '', token = '', countText = ''] = process.argv.slice(2);
const count = Number(countText);
const AT_ONCE = 16;

const credentials = fixedCredentials({ headers: bearer(token) });
const transport = undiciTransport({ server, clock: realClock, tls: { ca: readFileSync(caFile, 'utf8') } });
const client = createClient({ transport, clock: realClock, random: systemRandom, credentials });

/** Reads every object, with the concurrency of a capture. */
async function read(from: number, to: number): Promise<void> {
  let next = from;
  const lane = async () => {
    for (let i = next++; i < to; i = next++)
      if ((await client.get(ConfigMap, { namespace: 'default', name: nameOf(i) })) === undefined)
        throw new Error(`${nameOf(i)} is missing`);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function capture(): Promise<number> {
  const targets = Array.from({ length: count }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: nameOf(i),
  }));
  const name = `bench-${process.pid}`;
  const answer = await client.create(ManifestCaptureRequest, {
    apiVersion: apiVersionOf(ManifestCaptureRequest),
    kind: ManifestCaptureRequest.kind,
    metadata: { name, namespace: 'default' },
    spec: { targets },
  });
  if (answer.kind !== 'created') throw answer.error;
  const { resourceVersion } = answer.object.metadata;
  const events = client.watch(ManifestCaptureRequest, {
    namespace: 'default',
    resourceVersion: resourceVersion!,
  });
  for await (const event of events) {
    if (event.type !== 'modified' && event.type !== 'added') continue;
    const [ready] = event.object.status?.conditions ?? [];
    if (event.object.metadata.name !== name || ready === undefined) continue;
    if (ready.status !== 'True') throw new Error(`${ready.reason}: ${ready.message}`);
    const path = `/apis/state-snapshotter.deckhouse.io/v1alpha1/manifestcheckpoints/${event.object.status!.checkpointName}`;
    const { body } = await client.raw({ method: 'GET', path });
    return (JSON.parse(Buffer.from(body).toString()) as { status: { chunks: unknown[] } }).status.chunks
      .length;
  }
  throw new Error('the watch ended');
}

function startController(): () => Promise<void> {
  const document = loadConfiguration(FAMILIES, {
    flags: {},
    environment: {},
    defaults: { actAs: 'controller', leaderElection: { enabled: false } },
  });
  const { manager } = assemble({
    connection: { transport, leaseTransport: transport, credentials, namespace: 'default' },
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: [manifestCapture],
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    identity: `bench-${process.pid}`,
  });
  manager.start();
  return async () => void (await manager.stop());
}

const collect = (globalThis as { gc?: () => void }).gc ?? (() => {});
const held = () => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const stop = what === 'capture' ? startController() : async () => {};
await read(0, Math.min(500, count));
collect();
const before = held();
let peak = before;
const watching = setInterval(() => {
  peak = Math.max(peak, held());
}, 5);
const cpu = process.cpuUsage();
const begin = performance.now();
const chunks = what === 'capture' ? await capture() : await read(0, count).then(() => 0);
const seconds = (performance.now() - begin) / 1000;
const { user, system } = process.cpuUsage(cpu);
clearInterval(watching);
const figures: Figures = {
  seconds,
  peakMb: (peak - before) / 2 ** 20,
  cpuSeconds: (user + system) / 1e6,
  chunks,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
await stop();
process.exit(0);
