// npm run bench -- sim: what virtual time costs. An idle cluster for 10,000 hours, and thirty days in which 1,000 Jobs
// finish at different times and end by their TTL, each at its second. Goals: milliseconds, and less than a second.

import { hours, minutes, seconds } from '#base/instant';
import { VIRTUAL_START } from '#base/virtualClock';
import { type Simulation, simulate } from '#sim/simulate';
import { composeFamilies, findFamily } from '../../test/scenarios/compose.ts';
import { finishedJob } from '../../test/scenarios/kit.ts';
import { machine } from '../machine.ts';
import { markdownTable } from '../table.ts';

const DAYS = 30;
const JOBS = 1000;

const cluster = (): Promise<Simulation> =>
  simulate({
    compose: composeFamilies({
      families: [findFamily('ttl-after-finished')],
      controllers: [],
      configuration: { ttlAfterFinished: { jobPropagation: 'Background' } },
      gates: {},
    }),
  });

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function idle(): Promise<number> {
  const simulation = await cluster();
  const took = await timed(() => simulation.timePasses(hours(10_000)));
  await simulation.close();
  return took;
}

/** The whole story: the cluster starts, Jobs are written, days pass, everything is gone. */
function thirtyDays(): Promise<number> {
  return timed(async () => {
    const simulation = await cluster();
    const every = minutes((DAYS * 24 * 60) / JOBS);
    for (let i = 0; i < JOBS; i++)
      await simulation.hands.create(
        finishedJob(`job-${i}`, { ttl: seconds(((i + 1) * every) / 1000), finishedAt: VIRTUAL_START }),
      );
    await simulation.timePasses(hours(DAYS * 24));
    const gone = simulation.changes.filter(({ after }) => after === undefined).length;
    if (gone !== JOBS) throw new Error(`${gone} of ${JOBS} Jobs ended`);
    await simulation.close();
  });
}

export default async function run(): Promise<void> {
  await thirtyDays();
  const rows: [string, number, number][] = [
    ['10,000 hours, idle', await idle(), 50],
    [`${DAYS} days, ${JOBS} Jobs`, await thirtyDays(), 1000],
  ];
  process.stdout.write(`${machine()}\n\n`);
  const table = rows.map(([what, took, goal]) => [
    what,
    took.toFixed(1),
    String(goal),
    took <= goal ? 'holds' : 'FAILS',
  ]);
  process.stdout.write(`${markdownTable(['virtual time', 'ms', 'goal', ''], table)}\n`);
  if (rows.some(([, took, goal]) => took > goal)) process.exitCode = 1;
}
