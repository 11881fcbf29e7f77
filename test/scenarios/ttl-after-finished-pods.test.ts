// Finished Pods: opted in by annotation, behind a separate feature gate.

import { formatTime, hours, millis, minutes, seconds } from '@lapse/base/instant';
import type { Pod } from '@lapse/kube/api/kinds/builtin';
import { expect } from 'vitest';
import { at } from './kit.ts';
import { scenario } from './scenario.ts';
import type { Scene } from './scene.ts';
import { container, PODS, type PodParts, pod, POD_TTL as TTL } from './ttl-after-finished-kit.ts';

const DONE = { phase: 'Succeeded', containerStatuses: [container('main', seconds(0))] };

const SILENT = 'not every container reports its end';

/** The kubelet evicts it at this second. */
const evicted = (second: number) => ({
  phase: 'Failed',
  reason: 'Evicted',
  conditions: [
    { type: 'DisruptionTarget', status: 'True', lastTransitionTime: formatTime(at(seconds(second))) },
  ],
});

const reasons = async ({ then }: Scene, ref: string) => (await then.events(ref)).map(({ reason }) => reason);
const deletes = ({ then }: Scene) => then.requests('delete pods').length;

scenario.each<{ status: Pod['status']; end: number; rule: string }>(
  {
    'counts from the last container': {
      status: { phase: 'Succeeded', containerStatuses: [container('main', seconds(5))] },
      end: 65,
      rule: 'last container finished',
    },
    'counts from the last init container when no container has a status': {
      status: { phase: 'Failed', initContainerStatuses: [container('main', seconds(4))] },
      end: 64,
      rule: 'last init or ephemeral container finished',
    },
    'counts from a native sidecar, an init container that finishes last': {
      status: {
        phase: 'Succeeded',
        initContainerStatuses: [container('sidecar', seconds(9))],
        containerStatuses: [container('main', seconds(2))],
      },
      end: 69,
      rule: 'last init or ephemeral container finished',
    },
    'evicted while watched: not deleted before it was seen to fail': {
      status: evicted(3),
      end: 70,
      rule: 'first seen finished',
    },
    'evicted while watched, and one container has no finish time: not deleted before it was seen to fail': {
      status: { ...evicted(8), containerStatuses: [container('fetch', seconds(1)), container('main')] },
      end: 70,
      rule: `first seen finished; ${SILENT}`,
    },
    'one container has no finish time, and no condition has a time: not deleted before it was seen to fail': {
      status: { phase: 'Failed', containerStatuses: [container('fetch', seconds(1)), container('main')] },
      end: 70,
      rule: `first seen finished; ${SILENT}`,
    },
    'no container has a finish time: that of an init container is not enough': {
      status: {
        ...evicted(8),
        initContainerStatuses: [container('first', seconds(1))],
        containerStatuses: [container('main')],
      },
      end: 70,
      rule: `first seen finished; ${SILENT}`,
    },
    'counts from when Lapse first saw it finished if no field has a time': {
      status: { phase: 'Failed', reason: 'NodeLost' },
      end: 70,
      rule: 'first seen finished',
    },
  },
  async (scene, { status, end, rule }) => {
    PODS.begin(scene);
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

scenario.each<{ status: Pod['status']; end: number }>(
  {
    'evicted before the controller started: counts from the newest condition': {
      status: evicted(3),
      end: 63,
    },
    'evicted before the controller started, and a container has no finish time: counts from the newest condition':
      {
        status: { ...evicted(8), containerStatuses: [container('fetch', seconds(1)), container('main')] },
        end: 68,
      },
    'a container finished after the newest condition, another one has no finish time': {
      status: { ...evicted(3), containerStatuses: [container('fetch', seconds(7)), container('main')] },
      end: 67,
    },
  },
  async (scene, { status, end }) => {
    PODS.begin(scene);
    const { given, when, then } = scene;
    await given.object(pod('task', '60', { status: status! }));
    await when.timePasses(seconds(10));
    await when.processRestarts();
    await when.timePasses(millis((end - 10) * 1000 - 1));
    await then.exists('pod/task');
    await when.timePasses(millis(1));
    await then.isGone('pod/task');
  },
);

scenario('the first-seen time is lost by a restart and starts again: late, never early', async (scene) => {
  PODS.begin(scene);
  const { given, when, then } = scene;
  await given.object(pod('task', '60', { status: { phase: 'Failed' } }));
  await when.timePasses(seconds(50));
  await when.processRestarts();
  await when.timePasses(seconds(59));
  await then.exists('pod/task');
  await when.timePasses(seconds(1));
  await then.isGone('pod/task');
});

scenario.each(
  {
    'first seen while the clock was an hour behind: not early when it is corrected': seconds(-3600),
    'first seen while the clock was 25 s behind, which is tolerated: not early either': seconds(-25),
    'first seen while the clock was an hour ahead: not an hour late when it is corrected': seconds(3600),
  },
  async (scene, by) => {
    PODS.begin(scene);
    const { given, when, then } = scene;
    await given.object(pod('task', '20'));
    await when.timePasses(minutes(1));
    await when.clockJumps(by);
    await when.user.status('pod/task', { phase: 'Failed', reason: 'NodeLost' });
    await when.timePasses(seconds(2));
    await when.clockJumps(millis(-by));
    await when.timePasses(millis(17_999));
    await then.exists('pod/task');
    expect(deletes(scene)).toBe(0);
    await when.timePasses(minutes(1));
    await then.isGone('pod/task');
    expect(deletes(scene)).toBe(1);
  },
);

scenario('first seen, and recreated under its name: the new Pod has a new first-seen time', async (scene) => {
  PODS.begin(scene);
  const { given, when, then } = scene;
  const task = pod('task', '60', { status: { phase: 'Failed' } });
  await given.object(task);
  await when.timePasses(seconds(50));
  await when.user.delete('pod/task');
  await when.user.create(task);
  await when.timePasses(millis(59_999));
  await then.exists('pod/task');
  await when.timePasses(millis(1));
  await then.isGone('pod/task');
});

scenario('with the feature gate off nothing happens', async (scene) => {
  const { given, when, then } = scene;
  given.controllers('ttl-after-finished');
  await given.object(pod('task', '0', { status: DONE }));
  await when.timePasses(hours(10));
  await then.exists('pod/task');
  expect(then.requests(({ resource }) => resource === 'pods')).toEqual([]);
});

scenario('running Pods are never cached', async (scene) => {
  PODS.begin(scene);
  const { given, when, then } = scene;
  await given.object([pod('running', '0', { status: { phase: 'Running' } }), pod('pending', '0')]);
  await when.timePasses(hours(1));
  const asked = then.requests(({ resource }) => resource === 'pods');
  expect(asked.length).toBeGreaterThan(0);
  const selector = 'status.phase!=Pending,status.phase!=Running,status.phase!=Unknown';
  expect(asked.every(({ query }) => decodeURIComponent(query).includes(selector))).toBe(true);
  expect((await scene.simulation()).reconciles).toEqual([]);
});

scenario.each<{ more: PodParts; reason: string }>(
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
    PODS.begin(scene);
    const { given, when, then } = scene;
    await given.object(pod('task', '0', { ...more, status: DONE }));
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
    PODS.begin(scene);
    const { given, when, then } = scene;
    await given.object(pod('task', text, { status: DONE }));
    await when.timePasses(hours(1000));
    await then.exists('pod/task');
    expect(await reasons(scene, 'pod/task')).toEqual(['InvalidTTL']);
    expect((await scene.simulation()).reconciles.length).toBeLessThan(5);
    await when.user.patch('pod/task', { metadata: { annotations: { [TTL]: '5' } } });
    await then.isGone('pod/task');
  },
);

scenario('a Pod that opts in later, and out again', async (scene) => {
  PODS.begin(scene);
  const { given, when, then } = scene;
  const plain = pod('task', '0', { status: DONE });
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
