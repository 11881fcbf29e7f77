// npm run bench -- requests: volume captures that complete in the same second, from the first reconcile to the last
// deletion after their TTL, on the embedded server in virtual time. The cost per request must not grow with their
// number. The embedded server and the simulated snapshot controller are part of every figure.

import { minutes, seconds } from '@lapse/base/instant';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { composeFamilies, findFamily } from '../../test/scenarios/compose.ts';
import { capture, claim, snapshotClass, storageClass, volume } from '../../test/scenarios/requests/kit.ts';
import { machine } from '../machine.ts';
import { markdownTable } from '../table.ts';

const SIZES = process.argv.includes('--quick') ? [100, 500] : [1000, 5000];
const families = ['volume-capture', 'object-keeper', 'request-ttl'].map(findFamily);

interface Figures {
  readonly count: number;
  readonly finishMs: number;
  readonly expireMs: number;
  readonly cpuMs: number;
  readonly heapMb: number;
  readonly writes: number;
  readonly reads: number;
  readonly left: number;
}

/** With thousands of keys of simulated controllers at one instant, one check for idleness is not enough. */
async function rest(simulation: Simulation): Promise<void> {
  for (let still = 0, seen = -1; still < 5; ) {
    await simulation.settle();
    const { length } = simulation.changes;
    still = length === seen ? still + 1 : 0;
    seen = length;
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function measure(count: number): Promise<Figures> {
  const simulation = await simulate({
    compose: composeFamilies({ families, controllers: [], configuration: {}, gates: {} }),
    kinds: [...new Set([...families.flatMap(({ kinds }) => kinds), ...STOCK_SNAPSHOT_KINDS])],
    simulatedControllers: simulatedControllersNamed(['csi-snapshotter']),
  });
  const slow = snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': '31s' } });
  await simulation.apply([slow, storageClass(), volume(), claim()]);
  simulation.crash();
  await simulation.userClient.create(Array.from({ length: count }, (_, i) => capture(`r${i}`)));
  const cpu = process.cpuUsage();
  const finishMs = await timed(async () => {
    await simulation.restart();
    await simulation.timePasses(seconds(31));
    await rest(simulation);
  });
  const heapMb = process.memoryUsage().heapUsed / 2 ** 20;
  const expireMs = await timed(async () => {
    await simulation.timePasses(minutes(10));
    await rest(simulation);
  });
  const { user, system } = process.cpuUsage(cpu);
  const writes = simulation.writes().length;
  const reads = simulation.requests.filter(({ verb }) => verb === 'get').length;
  const left = (await simulation.user.list(VolumeCaptureRequest)).items.length;
  await simulation.close();
  return { count, finishMs, expireMs, cpuMs: (user + system) / 1000, heapMb, writes, reads, left };
}

const HEADER = [
  'requests',
  'all finished, s',
  'all expired, s',
  'CPU ms each',
  'writes each',
  'reads each',
  'heap, MB',
  'left',
];
export default async function bench(): Promise<void> {
  const rows: string[][] = [];
  for (const size of SIZES) {
    process.stdout.write(`measuring ${size} requests …\n`);
    const f = await measure(size);
    rows.push([
      f.count.toLocaleString('en'),
      (f.finishMs / 1000).toFixed(1),
      (f.expireMs / 1000).toFixed(1),
      (f.cpuMs / f.count).toFixed(2),
      (f.writes / f.count).toFixed(2),
      (f.reads / f.count).toFixed(2),
      f.heapMb.toFixed(0),
      String(f.left),
    ]);
  }
  process.stdout.write(`\n${machine()}\n\n${markdownTable(HEADER, rows)}\n`);
}
