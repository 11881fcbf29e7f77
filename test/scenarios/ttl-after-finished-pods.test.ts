// Pods that end: opted in by annotation, behind a gate of their own.

import { expect } from 'vitest';
import type { Pod } from '#api/kinds/builtin';
import { formatTime, hours, type Instant, millis, minutes, plus, seconds } from '#base/instant';
import { VIRTUAL_START } from '#base/virtualClock';
import { scenario } from './scenario.ts';
import type { Scene } from './words.ts';

const TTL = 'lapse.dev/ttl-seconds-after-finished';

function begin({ given }: Scene): void {
  given.controllers('ttl-after-finished');
  given.gates({ TTLAfterFinishedPods: true });
}

const at = (second: number): string => formatTime(plus(VIRTUAL_START as Instant, seconds(second)));

const pod = (
  name: string,
  ttl: string,
  more: { status?: Pod['status']; spec?: object; metadata?: object } = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations: { [TTL]: ttl }, ...more.metadata },
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'busybox' }],
    ...more.spec,
  } as Pod['spec'] & object,
  ...(more.status === undefined ? {} : { status: more.status }),
});
const terminated = (second: number) => [
  {
    name: 'main',
    image: 'busybox',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode: 0, finishedAt: at(second) } },
  },
];

const reasons = async ({ then }: Scene, ref: string) => (await then.events(ref)).map(({ reason }) => reason);
const deletes = ({ then }: Scene) => then.requests(({ verb }) => verb === 'delete').length;

scenario.each<{ status: Pod['status']; end: number; rule: string }>(
  {
    'counts from the last container': {
      status: { phase: 'Succeeded', containerStatuses: terminated(5) },
      end: 65,
      rule: 'last container finished',
    },
    'counts from the last init container when no other says': {
      status: { phase: 'Failed', initContainerStatuses: terminated(4) },
      end: 64,
      rule: 'last init or ephemeral container finished',
    },
    'evicted: counts from the newest condition': {
      status: {
        phase: 'Failed',
        reason: 'Evicted',
        conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: at(3) }],
      },
      end: 63,
      rule: 'newest condition',
    },
    'counts from when we first saw it when nobody says': {
      status: { phase: 'Failed', reason: 'NodeLost' },
      end: 70,
      rule: 'first seen finished',
    },
  },
  async (scene, { status, end, rule }) => {
    begin(scene);
    const { given, when, then } = scene;
    await given.object(pod('task', '60'));
    await when.timePasses(seconds(10));
    await when.user.status('pod/task', status!);
    await when.timePasses(millis((end - 10) * 1000 - 1));
    await then.exists('pod/task');
    await when.timePasses(millis(1));
    await then.isGone('pod/task');
    const [event] = await then.events('pod/task');
    expect(event).toMatchObject({ reason: 'Deleted' });
    expect(event!.note).toContain(`(${rule}), TTL 1m0s (${TTL}); deleted 0.0 s after its deadline`);
    expect(deletes(scene)).toBe(1);
  },
);

scenario('first seen is lost by a restart and begins again: late, never early', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object(pod('task', '60', { status: { phase: 'Failed' } }));
  await when.timePasses(seconds(50));
  await when.processRestarts();
  await when.timePasses(seconds(59));
  await then.exists('pod/task');
  await when.timePasses(seconds(1));
  await then.isGone('pod/task');
});

scenario('with the gate off nothing happens', async (scene) => {
  const { given, when, then } = scene;
  given.controllers('ttl-after-finished');
  await given.object(pod('task', '0', { status: { phase: 'Succeeded', containerStatuses: terminated(0) } }));
  await when.timePasses(hours(10));
  await then.exists('pod/task');
  expect(then.requests(({ resource }) => resource === 'pods')).toEqual([]);
});

scenario('running Pods never enter memory', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object([pod('running', '0', { status: { phase: 'Running' } }), pod('pending', '0')]);
  await when.timePasses(hours(1));
  const asked = then.requests(({ resource }) => resource === 'pods');
  expect(asked.length).toBeGreaterThan(0);
  const selector = 'status.phase!=Pending,status.phase!=Running,status.phase!=Unknown';
  expect(asked.every(({ query }) => decodeURIComponent(query).includes(selector))).toBe(true);
  expect((await scene.simulation()).passes).toEqual([]);
});

scenario.each<{ more: Parameters<typeof pod>[2]; reason: string }>(
  {
    'a Pod of a Job is left to the Job': {
      more: {
        metadata: {
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'x', controller: true }],
        },
      },
      reason: 'OwnedByJob',
    },
    'a Pod that is always restarted is skipped': {
      more: { spec: { restartPolicy: 'Always' } },
      reason: 'RestartPolicyAlways',
    },
  },
  async (scene, { more, reason }) => {
    begin(scene);
    const { given, when, then } = scene;
    await given.object(
      pod('task', '0', { ...more, status: { phase: 'Succeeded', containerStatuses: terminated(0) } }),
    );
    await when.timePasses(hours(1));
    await when.user.patch('pod/task', { metadata: { annotations: { [TTL]: '1' } } });
    await when.timePasses(hours(1));
    await then.exists('pod/task');
    expect(await reasons(scene, 'pod/task')).toEqual([reason]);
    expect(deletes(scene)).toBe(0);
  },
);

scenario.each(
  { words: 'soon', negative: '-1', 'more than int32': '2147483648', empty: '', units: '1h', fraction: '1.5' },
  async (scene, text) => {
    begin(scene);
    const { given, when, then } = scene;
    await given.object(
      pod('task', text, { status: { phase: 'Succeeded', containerStatuses: terminated(0) } }),
    );
    await when.timePasses(hours(1000));
    await then.exists('pod/task');
    expect(await reasons(scene, 'pod/task')).toEqual(['InvalidTTL']);
    expect((await scene.simulation()).passes.length).toBeLessThan(5);
    await when.user.patch('pod/task', { metadata: { annotations: { [TTL]: '5' } } });
    await then.isGone('pod/task');
  },
);

scenario('opted in later, and out again', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  const plain = pod('task', '0', { status: { phase: 'Succeeded', containerStatuses: terminated(0) } });
  await given.object({ ...plain, metadata: { name: 'task', namespace: 'default' } });
  await when.timePasses(minutes(10));
  await when.user.patch('pod/task', {
    metadata: { annotations: { [TTL]: '1200', 'lapse.dev/ttl': 'never' } },
  });
  await when.timePasses(minutes(30));
  await then.exists('pod/task');
  await when.user.patch('pod/task', { metadata: { annotations: { 'lapse.dev/ttl': null } } });
  await then.isGone('pod/task');
});
