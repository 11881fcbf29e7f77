// The cases of upstream's own tests that need an API server or a process, by their numbers in its list: what the server
// accepts, how many workers may be configured, and its one end-to-end test. The others are tables
// (packages/lapse/src/controllers/ttl-after-finished/decide.test.ts, family.test.ts).

import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import type { Job } from '@lapse/kube/api/kinds/builtin';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect, onTestFinished, test } from 'vitest';
import { LapseProcess } from '../cmd/lapseProcess.ts';
import { at, finishedStatus, job } from './kit.ts';
import { scenario } from './scenario.ts';
import type { Scene } from './scene.ts';

function begin({ given }: Scene): void {
  given.controllers('ttl-after-finished');
}

/** Requests of the process to single Jobs. */
const asked = ({ then }: Scene) =>
  then
    .requests(({ resource, name }) => resource === 'jobs' && name !== undefined)
    .map(({ method }) => method);

scenario("upstream's 10. a negative TTL is refused", async (scene) => {
  begin(scene);
  const made = job('report', { ttl: seconds(-1) });
  await expect(scene.given.object(made)).rejects.toThrow('must be greater than or equal to 0');
});

scenario("upstream's 11. a negative TTL in a CronJob's template is refused", async (scene) => {
  begin(scene);
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly' },
    spec: { schedule: '0 0 * * *', jobTemplate: { spec: { ...job('x').spec, ttlSecondsAfterFinished: -1 } } },
  };
  await expect(scene.given.object(cronJob)).rejects.toThrow('must be greater than or equal to 0');
});

scenario("upstream's 12. the TTL of an existing Job may be changed", async (scene) => {
  begin(scene);
  await scene.given.object(job('report', { ttl: seconds(60) }));
  await scene.when.user.patch('job/report', { spec: { ttlSecondsAfterFinished: 5 } });
  expect((await scene.then.object<Job>('job/report')).spec?.ttlSecondsAfterFinished).toBe(5);
});

scenario(
  "upstream's 13. an indexed, suspended Job with TTL 0 is created as it is, and is kept",
  async (scene) => {
    begin(scene);
    const made = job('report');
    const spec = {
      ...made.spec,
      completionMode: 'Indexed',
      completions: 2,
      parallelism: 2,
      suspend: true,
      ttlSecondsAfterFinished: 0,
    };
    await scene.given.object({ ...made, spec });
    await scene.when.timePasses(hours(24));
    expect((await scene.then.object<Job>('job/report')).spec).toMatchObject({
      suspend: true,
      ttlSecondsAfterFinished: 0,
      completionMode: 'Indexed',
    });
  },
);

// There is no cluster: with valid flags, the command fails with that message.
test.each([
  ['0', /--concurrent-ttl-after-finished-syncs: .*should be greater than or equal to 1/],
  ['1', /no-such-kubeconfig/],
])("upstream's 15. %s workers: refused at startup only without any worker", async (workers, message) => {
  const process = new LapseProcess([
    'run',
    '--kubeconfig=no-such-kubeconfig',
    `--concurrent-ttl-after-finished-syncs=${workers}`,
  ]);
  onTestFinished(async () => void (await process.end('SIGKILL')));
  expect(await process.exited).toBe(2);
  expect(process.out).toMatch(message);
});

scenario.each(
  {
    '17. it completes, and a finalizer keeps it': 'Complete',
    '17. it fails, and a finalizer keeps it': 'Failed',
  } as const,
  async (scene, result) => {
    const { given, when, then } = scene;
    given.controllers('ttl-after-finished');
    given.simulatedControllers(...simulatedControllersNamed(['owner-gc']));
    await given.object(job('report', { ttl: seconds(10), finalizers: ['example.com/dummy'] }));
    const { uid } = (await then.object('job/report')).metadata;
    const owner = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'report',
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    await given.object({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'report-x', ownerReferences: [owner as never] },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
    });
    await when.timePasses(minutes(3));
    await when.user.status('job/report', finishedStatus({ result, finishedAt: at(minutes(3)) }));
    await when.timePasses(millis(9999));
    expect((await then.object('job/report')).metadata.deletionTimestamp).toBeUndefined();
    await when.timePasses(millis(1));
    await then.isTerminating('job/report');
    await then.isGone('pod/report-x');
    await when.user.patch('job/report', { metadata: { finalizers: null } });
    await then.isGone('job/report');
    expect(asked(scene)).toEqual(['DELETE']);
  },
);
