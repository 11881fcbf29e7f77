// `lapse plan` on a real API server with a hundred thousand Jobs: it prints when each of them expires and what is
// deleted with it, in bounded memory, with read requests only.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../bed/bed.ts';
import { finishedAt, jobName, PODS_PER, plantCrowd, ttlOf } from './crowd.ts';
import { type PlanRun, runPlan } from './process.ts';

const JOBS = 100_000;
const DAYS = 7;
/** Maximum heap of the process, and maximum memory of the whole process. */
const HEAP_MB = 200;
const MOST_MB = 500;
/**
 * The documented limit is ten seconds, measured by bench/plan. This bound is larger, because processors differ and busy
 * ones share their caches.
 */
const MOST_CPU_SECONDS = 25;

interface PlannedDeletion {
  readonly at: string;
  readonly object: { readonly kind: string; readonly name: string };
  readonly dependents: readonly { readonly object: { readonly kind: string; readonly name: string } }[];
}
interface Document {
  readonly made: string;
  readonly deletions: readonly PlannedDeletion[];
  readonly held: readonly { readonly object: { readonly name: string }; readonly because: string }[];
  readonly more: number;
  readonly unread: readonly string[];
}

let bed: Bed;
let run: PlanRun;
let plan: Document;
const planted = Date.now();

beforeAll(async () => {
  bed = await startBed({ auditLog: true });
  await plantCrowd(bed, JOBS, planted);
  await bed.kubectl('annotate', 'job', jobName(7), 'lapse.dev/ttl=never');
  run = await runPlan(['-o', 'json', '--for', `${DAYS}d`, '--progress'], bed.kubeconfig, HEAP_MB);
  plan = JSON.parse(run.stdout) as Document;
  const { seconds, cpuSeconds, peak } = run;
  process.stdout.write(
    `lapse plan of ${JOBS} Jobs: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of a processor, ${Math.round(peak / 2 ** 20)} MB at most\n`,
  );
});
afterAll(() => bed?.stop());

test('every Job is deleted when its TTL expires; those beyond the horizon are counted', () => {
  expect(run.code).toBe(0);
  const until = Date.parse(plan.made) + DAYS * 86_400_000;
  const endOf = (i: number) => finishedAt(i, planted) + ttlOf(i) * 1000;
  const wanted = new Map<string, number>();
  for (let i = 0; i < JOBS; i++) if (i !== 7 && endOf(i) <= until) wanted.set(jobName(i), endOf(i));
  expect(plan.deletions.length).toBe(wanted.size);
  for (const { object, at } of plan.deletions)
    if (Date.parse(at) !== wanted.get(object.name)) expect({ object, at }).toBe('as planted');
  expect(plan.more).toBe(JOBS - 1 - wanted.size);
  expect(plan.unread).toEqual([]);
  const times = plan.deletions.map(({ at }) => Date.parse(at));
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

test('the Job that opted out is held', () => {
  expect(plan.held).toMatchObject([{ object: { name: jobName(7) }, because: 'opted out' }]);
});

test('Pods are deleted with their Jobs', () => {
  const dependents = plan.deletions.filter(({ dependents: all }) => all.length > 0);
  const planned = new Set(plan.deletions.map(({ object }) => object.name));
  const owners = Array.from({ length: JOBS / PODS_PER }, (_, i) => jobName(i * PODS_PER));
  expect(dependents.map(({ object }) => object.name).sort()).toEqual(
    owners.filter((name) => planned.has(name)).sort(),
  );
  expect(
    dependents.every(
      ({ object, dependents: all }) => all.length === 1 && all[0]!.object.name === `${object.name}-pod`,
    ),
  ).toBe(true);
});

// Wall-clock time depends on the load of the machine; CPU time hardly does.
test('memory and work are bounded', () => {
  expect(run.peak).toBeLessThan(MOST_MB * 2 ** 20);
  expect(run.cpuSeconds).toBeGreaterThan(0.5);
  expect(run.cpuSeconds).toBeLessThan(MOST_CPU_SECONDS);
});

test('prints what it reads while it reads', () => {
  // A slow API server adds a line about waiting for its first answer.
  const lines = run.stderr.split('\n').filter((line) => line && !line.includes('waiting for a response'));
  expect(lines.length).toBeGreaterThanOrEqual(JOBS / 20_000);
  expect(lines.filter((line) => !/^read \d+ objects, now \w+$/.test(line))).toEqual([]);
  expect(Number(/\d+/.exec(lines.at(-1)!)![0])).toBeGreaterThanOrEqual(JOBS - 10_000);
});

test('only reads: no other verb, not even as a dry run', () => {
  const requests = readFileSync(bed.auditLogFile!, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"userAgent":"lapse/'))
    .map((line) => JSON.parse(line) as { verb: string; requestURI: string });
  expect(requests.length).toBeGreaterThan(50);
  expect([...new Set(requests.map(({ verb }) => verb))].sort()).toEqual(['get', 'list']);
  expect(requests.filter(({ requestURI }) => requestURI.includes('dryRun'))).toEqual([]);
});
