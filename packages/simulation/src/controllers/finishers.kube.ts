// Compares the simulated Job controller with the real one, and checks that a real API server accepts its writes.

import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { Job, Node, Pod } from '@lapse/kube/api/kinds/builtin';
import { type Client, objectOf } from '@lapse/kube/client/client';
import { Manager } from '@lapse/runtime/manager';
import { world } from '@lapse/runtime/world.testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realCluster, sleep } from './cluster.testkit.ts';
import { FINISH } from './finish.ts';
import { jobFinisher } from './jobFinisher/controller.ts';
import { HEARTBEAT } from './nodeHeartbeat/compute.ts';
import { nodeHeartbeat } from './nodeHeartbeat/controller.ts';
import { podFinisher } from './podFinisher/controller.ts';

const cluster = realCluster('job-controller');
let manager: Manager;

beforeAll(() => {
  const controllers = [jobFinisher(), podFinisher(), nodeHeartbeat()];
  manager = new Manager({ clock: realClock, random: systemRandom, client: cluster.client, controllers });
  manager.start();
});
afterAll(() => manager?.stop());

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
const SPECS: Readonly<Record<string, object>> = {
  plain: { template },
  indexed: { template, completions: 3, parallelism: 3, completionMode: 'Indexed' },
  failing: { template, backoffLimit: 0 },
};
const wishOf = (name: string) => `${name === 'failing' ? 'failed' : 'succeeded'} after 1s`;
const job = (name: string, spec: object, annotations: Record<string, string> = {}): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'default', annotations },
  spec,
});

/** The status without times, which differ. */
async function statusOf(client: Client, name: string): Promise<object | undefined> {
  const found = await client.get(Job, { namespace: 'default', name });
  const isOver = found?.status?.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed');
  if (!isOver) return undefined;
  const { startTime, completionTime, conditions, ...rest } = found!.status!;
  return {
    ...rest,
    times: [typeof startTime, typeof completionTime],
    conditions: conditions?.map(({ lastProbeTime, lastTransitionTime, ...condition }) => ({
      ...condition,
      times: [typeof lastProbeTime, typeof lastTransitionTime],
    })),
  };
}

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 120; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(250);
  }
  throw new Error('it did not come to that');
}

/** Simulates a kubelet that finishes the Pods of a Job at once. */
async function finishPods(client: Client, name: string): Promise<void> {
  const failing = name === 'failing';
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  const { items } = await client.list(Pod, { namespace: 'default', labelSelector });
  for (const { metadata, status } of items) {
    if (status?.phase !== 'Pending') continue;
    const patch = { status: { phase: failing ? 'Failed' : 'Succeeded' } };
    const key = { namespace: 'default', name: metadata.name! };
    await client.patch(Pod, key, { type: 'merge', patch }, { subresource: 'status' });
  }
}

test.each(Object.entries(SPECS))(
  'writes the same status of %s as the real Job controller',
  async (name, spec) => {
    const made = await world({ controllers: [jobFinisher()] });
    made.manager.start();
    objectOf(await made.user.create(Job, job(name, spec, { [FINISH]: wishOf(name) })));
    await made.pass(2000);
    const ours = await statusOf(made.user, name);
    await made.close();
    objectOf(await cluster.client.create(Job, job(name, spec)));
    const theirs = await eventually(async () => {
      await finishPods(cluster.client, name);
      return statusOf(cluster.client, name);
    });
    expect(ours).toEqual(theirs);
  },
);

test.each(Object.entries(SPECS))(
  'writes a status of %s that a real API server accepts',
  async (name, spec) => {
    const own = `own-${name}`;
    const managed = { ...spec, managedBy: 'lapse.dev/simulation' };
    objectOf(await cluster.client.create(Job, job(own, managed, { [FINISH]: wishOf(name) })));
    const status = await eventually(() => statusOf(cluster.client, own));
    expect(status).toEqual(await statusOf(cluster.client, name));
  },
);

test('a real API server accepts the statuses of finished Pods and ready Nodes', async () => {
  const { client } = cluster;
  const annotations = { [FINISH]: 'failed after 1s' };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', annotations },
    spec: template.spec,
  };
  objectOf(await client.create(Pod, pod));
  const labels = { [HEARTBEAT]: '' };
  objectOf(await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels } }));
  const ended = await eventually(async () => {
    const found = await client.get(Pod, { namespace: 'default', name: 'p' });
    return found?.status?.phase === 'Failed' ? found : undefined;
  });
  expect(ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(1);
  const ready = await eventually(async () =>
    (await client.get(Node, { name: 'n' }))?.status?.conditions?.find(({ type }) => type === 'Ready'),
  );
  expect(ready.status).toBe('True');
});
