// npm run bench -- sim: the cost of virtual time. An idle cluster for 10,000 hours; thirty days in which 1,000 objects
// expire, each at its own instant, once as ConfigMaps with a minimal controller, once as finished Jobs with the real
// controller (whose writes cost the embedded server several times as much). Goals: milliseconds, and less than a second
// for 1,000 objects.

import { hours, type Instant, instant, isDue, parseTime, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import { ConfigMap, defineController, formatTime, keyOf, settled, waitUntil } from '@lapse/runtime/library';
import { type Compose, simulate } from '@lapse/simulation/library';
import { composeFamilies, findFamily } from '../../test/scenarios/compose.ts';
import { finishedJob } from '../../test/scenarios/kit.ts';
import { machine } from '../machine.ts';
import { markdownTable } from '../table.ts';

const DAYS = 30;
const OBJECTS = 1000;
const ENDS = 'ends-at';

const janitor = defineController<ConfigMap>({
  name: 'janitor',
  for: ConfigMap,
  rights: [{ group: '', resource: 'configmaps', verbs: ['delete'] }],
  async reconcile(ctx) {
    const object = ctx.cache.get(ConfigMap, ctx.key);
    if (object === undefined) return settled();
    const at = parseTime(object.metadata.annotations?.[ENDS] ?? '');
    if (!isDue(at, ctx.now)) return waitUntil(at, 'end');
    await ctx.client.delete(ConfigMap, keyOf(object), { ifUid: object.metadata.uid! });
    return settled();
  },
});

interface Kind {
  readonly name: string;
  readonly compose: Compose;
  create(name: string, ends: Instant): KubeObject;
}

const configMaps: Kind = {
  name: 'ConfigMaps',
  compose: () => ({ controllers: [janitor] }),
  create: (name, ends) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, annotations: { [ENDS]: formatTime(ends) } },
  }),
};

const jobs: Kind = {
  name: 'Jobs',
  compose: composeFamilies({
    families: [findFamily('ttl-after-finished')],
    controllers: [],
    configuration: { ttlAfterFinished: { jobPropagation: 'Background' } },
    gates: {},
  }),
  create: (name, ends) => finishedJob(name, { ttl: seconds((ends - VIRTUAL_START) / 1000) }),
};

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function idle(): Promise<number> {
  const simulation = await simulate({ compose: jobs.compose });
  const took = await timed(() => simulation.timePasses(hours(10_000)));
  await simulation.close();
  return took;
}

/** The whole scenario: the cluster starts, objects are created, days pass, everything is deleted. */
function thirtyDays({ compose, create }: Kind): Promise<number> {
  const length = hours(DAYS * 24);
  return timed(async () => {
    const simulation = await simulate({ compose });
    for (let i = 1; i <= OBJECTS; i++)
      await simulation.userClient.create(
        create(`object-${i}`, instant(VIRTUAL_START + (i / OBJECTS) * length)),
      );
    await simulation.timePasses(length);
    const gone = simulation.changes.filter(({ after }) => after === undefined).length;
    if (gone !== OBJECTS) throw new Error(`${gone} of ${OBJECTS} ended`);
    await simulation.close();
  });
}

export default async function run(): Promise<void> {
  for (const kind of [configMaps, jobs]) await thirtyDays(kind);
  const rows: [string, number, number][] = [
    ['10,000 hours, idle', await idle(), 50],
    [`${DAYS} days, ${OBJECTS} ConfigMaps`, await thirtyDays(configMaps), 1000],
    [`${DAYS} days, ${OBJECTS} finished Jobs`, await thirtyDays(jobs), Number.POSITIVE_INFINITY],
  ];
  process.stdout.write(`${machine()}\n\n`);
  const result = (took: number, goal: number) =>
    goal === Number.POSITIVE_INFINITY ? ['–', ''] : [String(goal), took <= goal ? 'holds' : 'FAILS'];
  const table = rows.map(([what, took, goal]) => [what, took.toFixed(1), ...result(took, goal)]);
  process.stdout.write(`${markdownTable(['virtual time', 'ms', 'goal', ''], table)}\n`);
  if (rows.some(([, took, goal]) => took > goal)) process.exitCode = 1;
}
