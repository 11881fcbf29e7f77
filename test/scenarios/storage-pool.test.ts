// Storage pools: the standard failure scenarios of every controller, and scenarios specific to pools.

import { formatTime, hours, type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import type { Node } from '@lapse/kube/api/kinds/builtin';
import type { ReplicatedStoragePool } from 'lapse/api/replicatedStoragePool';
import { expect } from 'vitest';
import { at } from './kit.ts';
import { scenario, WATCH_ENDS } from './scenario.ts';
import type { Scene } from './scene.ts';

const RSP = 'rsp/pool';
const STORAGE = 'storage.deckhouse.io/v1alpha1';

const readiness = (status: string, since: Millis = millis(0)): Node['status'] & object => ({
  conditions: [{ type: 'Ready', status, lastTransitionTime: formatTime(at(since)) }],
});
const node = (name: string, status = readiness('True')): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status,
});
const lvg = (name: string, nodeName: string) => ({
  apiVersion: STORAGE,
  kind: 'LVMVolumeGroup',
  metadata: { name },
  spec: { local: { nodeName } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});
const pool = (name = 'pool', grace = '5m', more: object = {}) => ({
  apiVersion: STORAGE,
  kind: 'ReplicatedStoragePool',
  metadata: { name },
  spec: {
    type: 'LVM',
    lvmVolumeGroups: [{ name: 'vg' }],
    eligibleNodesPolicy: { notReadyGracePeriod: grace },
    ...more,
  },
});

/** Two nodes. The first has the volume group. */
async function begin({ given }: Scene, ...more: Parameters<typeof given.object>[0][]): Promise<void> {
  given.controllers('storage-pool');
  await given.object([node('n1'), node('n2'), lvg('vg', 'n1'), pool()]);
  for (const manifests of more) await given.object(manifests);
}
const fails = ({ when, now }: Scene, name: string) =>
  when.user.status(`node/${name}`, readiness('False', millis(now() - at(millis(0)))));
const recovers = ({ when, now }: Scene, name: string) =>
  when.user.status(`node/${name}`, readiness('True', millis(now() - at(millis(0)))));

const statusOf = async ({ then }: Scene, ref = RSP) =>
  (await then.object<ReplicatedStoragePool>(ref)).status ?? {};
/** Nodes as `n1`, or `n1?` if not ready, and the revision. */
const listed = async (scene: Scene, ref = RSP): Promise<string> => {
  const { eligibleNodes = [], eligibleNodesRevision } = await statusOf(scene, ref);
  const names = eligibleNodes.map(({ nodeName, nodeReady }) => `${nodeName}${nodeReady ? '' : '?'}`);
  return `${names.join(' ')} @${eligibleNodesRevision}`;
};
const reason = async (scene: Scene, ref = RSP) =>
  (await statusOf(scene, ref)).conditions?.find(({ type }) => type === 'Ready')?.reason;

scenario('the status a user sees when a node fails and does not come back', async (scene) => {
  await begin(scene);
  const { when, then } = scene;
  await when.timePasses(minutes(1));
  await fails(scene, 'n1');
  expect(await listed(scene)).toBe('n1? n2 @2');
  await when.timePasses(millis(minutes(5) - 1));
  expect(await listed(scene)).toBe('n1? n2 @2');
  await when.timePasses(millis(1));
  expect(await listed(scene)).toBe('n2 @3');
  await when.timePasses(minutes(1));
  await recovers(scene, 'n1');
  expect(await listed(scene)).toBe('n1 n2 @4');
  expect(then.writes()).toHaveLength(4);
  then.timeline().toEqual(`
    +00:00  lvmvolumegroup/vg           Ready=True
    +00:00  node/n1                     Ready=True
    +00:00  node/n2                     Ready=True
    +00:00  replicatedstoragepool/pool  Ready=True   Ready
    +00:00  replicatedstoragepool/pool  phase=Ready
    +01:00  node/n1                     Ready=False
    +01:00  replicatedstoragepool/pool  updated      status.eligibleNodes, status.eligibleNodesRevision
    +01:00  replicatedstoragepool/pool  waiting      until +06:00 (not ready grace period)
    +06:00  replicatedstoragepool/pool  updated      status.conditions, status.eligibleNodes, status.eligibleNodesRevision, status.message
    +07:00  node/n1                     Ready=True
    +07:00  replicatedstoragepool/pool  updated      status.conditions, status.eligibleNodes, status.eligibleNodesRevision, status.message
  `);
});

scenario(
  'a restart loses nothing, and a node whose grace period ended meanwhile is removed at once',
  async (scene) => {
    await begin(scene);
    const { when } = scene;
    await fails(scene, 'n1');
    await when.timePasses(minutes(2));
    await when.processRestarts();
    expect(await listed(scene)).toBe('n1? n2 @2');
    await when.timePasses(minutes(3));
    expect(await listed(scene)).toBe('n2 @3');
    await fails(scene, 'n2');
    await when.processCrashes({ downFor: minutes(60) });
    expect(await listed(scene)).toBe(' @5');
  },
);

scenario.each(WATCH_ENDS, async (scene, how) => {
  await begin(scene);
  const { when } = scene;
  await when.watchesBreak(how);
  await fails(scene, 'n1');
  await when.user.delete('node/n2');
  await when.user.create(node('n3'));
  await when.timePasses(minutes(1));
  expect((await listed(scene)).split(' @')[0]).toBe('n1? n3');
});

scenario('a stale cache after its own write causes no second write', async (scene) => {
  await begin(scene);
  const { when, then } = scene;
  when.cachesAreStale();
  await when.user.create(node('n3'));
  await when.timePasses(seconds(5));
  expect(await listed(scene)).toBe('n1 n2 @1');
  await when.cachesCatchUp();
  expect(await listed(scene)).toBe('n1 n2 n3 @2');
  await when.timePasses(minutes(60));
  expect(then.writes()).toHaveLength(2);
});

scenario('a slow server and many events: one writer at a time, and the last state wins', async (scene) => {
  await begin(scene);
  const { when, then } = scene;
  when.serverIsSlow(millis(300));
  for (let i = 0; i < 10; i++) {
    await (i % 2 === 0 ? fails(scene, 'n1') : recovers(scene, 'n1'));
    await when.timePasses(millis(100));
  }
  await fails(scene, 'n2');
  await when.timePasses(seconds(30));
  expect((await listed(scene)).split(' @')[0]).toBe('n1 n2?');
  const refused = then.requests('PATCH').filter(({ status }) => status !== 200);
  expect(refused).toEqual([]);
});

scenario.each(
  {
    'a clock that is set an hour ahead drops no node early': hours(1),
    'a clock that is set an hour back only delays until it is detected': hours(-1),
  },
  async (scene, by) => {
    await begin(scene);
    const { when } = scene;
    await fails(scene, 'n1');
    await when.timePasses(minutes(1));
    await when.clockJumps(by);
    await when.timePasses(minutes(3));
    expect(await listed(scene)).toBe('n1? n2 @2');
    await when.clockJumps(millis(-by));
    await when.timePasses(minutes(2));
    expect(await listed(scene)).toBe('n2 @3');
  },
);

scenario('a transition time in the future does not lengthen the grace period', async (scene) => {
  await begin(scene);
  const { when } = scene;
  await when.user.status('node/n1', readiness('False', hours(1)));
  for (let minute = 0; minute < 4; minute++) {
    await when.timePasses(minutes(1));
    await when.user.patch('node/n2', { metadata: { labels: { minute: String(minute) } } });
  }
  await when.timePasses(millis(minutes(1) - 1));
  expect(await listed(scene)).toBe('n1? n2 @2');
  await when.timePasses(millis(1));
  expect(await listed(scene)).toBe('n2 @3');
  await when.timePasses(hours(2));
  expect(await listed(scene)).toBe('n2 @3');
});

scenario('phase and message follow the Ready condition', async (scene) => {
  await begin(scene, pool('lost', '5m', { lvmVolumeGroups: [{ name: 'nowhere' }] }));
  const { when } = scene;
  const none = 'no agent Pods (label app=agent) found in namespace lapse-system';
  expect(await statusOf(scene)).toMatchObject({
    phase: 'Ready',
    message: `Eligible nodes calculated successfully: 2 nodes; ${none}`,
  });
  expect(await statusOf(scene, 'rsp/lost')).toMatchObject({ phase: 'WaitingForLVMVolumeGroups' });
  await when.user.create(lvg('nowhere', 'n2'));
  expect(await statusOf(scene, 'rsp/lost')).toMatchObject({ phase: 'Ready' });
});

scenario('every pool reports that there are no agent Pods, until one exists', async (scene) => {
  await begin(scene, [
    pool('other', '5m', { nodeLabelSelector: { matchLabels: { a: 'b' } } }),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lapse-system' } },
  ]);
  const { when } = scene;
  const messages = async () =>
    Promise.all([RSP, 'rsp/other'].map(async (ref) => (await statusOf(scene, ref)).conditions![0]!.message));
  const none = '; no agent Pods (label app=agent) found in namespace lapse-system';
  const calculated = [2, 0].map((count) => `Eligible nodes calculated successfully: ${count} nodes`);
  expect(await messages()).toEqual(calculated.map((text) => text + none));
  await when.user.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent', namespace: 'lapse-system', labels: { app: 'agent' } },
    spec: { nodeName: 'n1', containers: [{ name: 'agent', image: 'agent' }] },
  });
  expect(await messages()).toEqual(calculated);
});

scenario('a pool deleted and recreated under its name starts all grace periods again', async (scene) => {
  await begin(scene);
  const { when } = scene;
  await fails(scene, 'n1');
  expect(await listed(scene)).toBe('n1? n2 @2');
  await when.user.delete(RSP);
  await when.user.create(pool('pool', '10m'));
  expect(await listed(scene)).toBe('n1? n2 @1');
  await when.timePasses(minutes(5));
  expect(await listed(scene)).toBe('n1? n2 @1');
  await when.timePasses(minutes(5));
  expect(await listed(scene)).toBe('n2 @2');
});

scenario('a pool recreated between the decision and the write does not get the old status', async (scene) => {
  await begin(scene);
  const { when, then } = scene;
  when.justBefore('PATCH', async () => {
    await when.user.delete(RSP);
    await when.user.create(pool('pool', '5m', { zones: ['nowhere'] }));
  });
  await fails(scene, 'n1');
  await when.timePasses(minutes(1));
  expect((await statusOf(scene)).eligibleNodes).toBeUndefined();
  expect(then.requests('PATCH').map(({ status }) => status)).toContain(409);
});

scenario('20 nodes and 10 pools due at one instant: one write per pool', async (scene) => {
  const { given, when, then } = scene;
  given.controllers('storage-pool');
  const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
  await given.object([
    ...names.map((name) => node(name, readiness('Unknown'))),
    lvg('vg', 'n0'),
    ...names.slice(0, 10).map((name) => pool(`pool-${name}`, '10m')),
  ]);
  const before = then.writes().length;
  await when.timePasses(minutes(10));
  expect(then.writes().length - before).toBe(10);
  expect((await listed(scene, 'rsp/pool-n7')).split(' @')[0]).toBe('');
});

scenario('after a conflict the status is read again, and fields of other writers are kept', async (scene) => {
  await begin(scene);
  const { when, then } = scene;
  const usedBy = { replicatedStorageClassNames: ['fast'] };
  when.justBefore('PATCH', () => when.user.status(RSP, { usedBy }));
  await fails(scene, 'n1');
  await when.timePasses(seconds(1));
  expect(await listed(scene)).toBe('n1? n2 @2');
  expect((await statusOf(scene)).usedBy).toEqual(usedBy);
  expect(then.requests('PATCH').map(({ status }) => status)).toEqual([200, 409, 200]);
});

scenario('leadership lost while waiting: nothing is written until it is won again', async (scene) => {
  await begin(scene);
  const { when, then } = scene;
  await fails(scene, 'n1');
  await when.leadershipIsLost();
  const before = then.writes().length;
  await when.timePasses(minutes(30));
  expect([await listed(scene), then.writes().length - before]).toEqual(['n1? n2 @2', 0]);
  await when.leadershipReturns();
  expect(await listed(scene)).toBe('n2 @3');
});

scenario.each(
  Object.fromEntries(
    ['nodes', 'pods', 'lvmvolumegroups', 'replicatedstoragepools'].map((resource) => [
      `403 on list and watch of ${resource}`,
      resource,
    ]),
  ),
  async (scene, resource) => {
    await begin(scene);
    const { when, then } = scene;
    when.serverAnswers(
      (request) => ['list', 'watch'].includes(request.verb) && request.resource === resource,
      403,
      { times: 1e9 },
    );
    await when.watchesBreak('gone');
    const before = then.requests().length;
    await when.timePasses(hours(1));
    expect(then.requests().length - before).toBeLessThan(120);
    await when.faultsEnd();
    await fails(scene, 'n1');
    await when.timePasses(minutes(10));
    expect((await listed(scene)).split(' @')[0]).toBe('n2');
  },
);

scenario('403 on the write: retried with backoff, and written when allowed', async (scene) => {
  await begin(scene);
  const { when, then } = scene;
  when.serverAnswers('PATCH', 403, { times: 1e9 });
  await fails(scene, 'n1');
  const before = then.requests('PATCH').length;
  await when.timePasses(hours(1));
  expect(then.requests('PATCH').length - before).toBeLessThan(30);
  expect(await listed(scene)).toBe('n1 n2 @1');
  await when.faultsEnd();
  await when.timePasses(minutes(5));
  expect(await listed(scene)).toBe('n2 @2');
});

scenario('a write whose answer was lost is not repeated', async (scene) => {
  await begin(scene);
  const { when, then } = scene;
  when.serverAnswers('PATCH', { drop: 'after' });
  await fails(scene, 'n1');
  await when.timePasses(seconds(30));
  expect(await listed(scene)).toBe('n1? n2 @2');
  const answered = then.requests('PATCH').filter(({ status }) => status === 200);
  expect(answered.length).toBeLessThanOrEqual(2);
});

scenario('a dry run changes nothing', async (scene) => {
  scene.given.configuration({ dryRun: true });
  scene.given.noDoubleRun('a dry run never sees its work done');
  await begin(scene);
  await scene.when.timePasses(hours(1));
  expect(await statusOf(scene)).toEqual({});
  expect(scene.then.writes().map(({ query }) => query.includes('dryRun=All'))).toEqual([true]);
});

scenario(
  'volume groups that are created later are reported and listed, and reported again when they are deleted',
  async (scene) => {
    const { given, when } = scene;
    given.controllers('storage-pool');
    await given.object([node('n1'), pool()]);
    expect(await reason(scene)).toBe('LVMVolumeGroupNotFound');
    await when.user.create(lvg('vg', 'n1'));
    expect([await reason(scene), await listed(scene)]).toEqual(['Ready', 'n1 @2']);
    await when.user.delete('lvg/vg');
    await fails(scene, 'n1');
    await when.timePasses(hours(1));
    expect([await reason(scene), await listed(scene)]).toEqual(['LVMVolumeGroupNotFound', 'n1 @2']);
    await when.user.create(lvg('vg', 'n1'));
    expect([await reason(scene), await listed(scene)]).toEqual(['Ready', ' @3']);
  },
);

scenario('a process limited to one namespace manages no pools', async (scene) => {
  scene.given.configuration({ namespace: 'team-a' });
  await begin(scene);
  expect(await statusOf(scene)).toEqual({});
  expect(scene.then.requests()).toEqual([]);
});
