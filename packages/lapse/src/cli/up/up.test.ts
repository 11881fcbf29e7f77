import { tokenAuthenticator } from '@lapse/apiserver/authn/auth';
import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { type Instant, instant, type Millis, millis, seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import { Pod } from '@lapse/kube/api/kinds/builtin';
import { createUserClient } from '@lapse/simulation/userClient';
import { afterEach, describe, expect, test } from 'vitest';
import { FAMILIES } from '#controllers/registry';
import { ttlAfterFinishedFamily } from '#controllers/ttl-after-finished/family';
import { readGeneral } from '#manager/configuration/general';
import { loadForCluster } from '#manager/configuration/installation';
import { loadConfiguration } from '#manager/configuration/load';
import { simulatedControllersNamed } from '#simulation/simulatedControllers';
import { readExamples } from './examples.ts';
import { LiveTimeline } from './liveTimeline.ts';
import { LocalCluster } from './localCluster.ts';
import { firstScreen } from './screen.ts';
import { renderSettings } from './settings.ts';
import { Tally } from './tally.ts';

const TOKEN = 'secret';
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

async function serve() {
  const clock = new VirtualClock();
  const admin = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
  const authenticator = tokenAuthenticator(new Map([[TOKEN, admin]]));
  return { clock, server: await createServer({ clock, random: seededRandom(1), authenticator }) };
}

async function start(
  served?: { readonly clock: VirtualClock; readonly server: ApiServer },
  flags: Readonly<Record<string, string>> = {},
  more: { readonly settings?: string } = {},
) {
  const { clock, server } = served ?? (await serve());
  const random = seededRandom(1);
  const families = [ttlAfterFinishedFamily];
  const document = loadConfiguration(families, {
    flags: { 'leader-elect': 'false', ...flags },
    environment: {},
  });
  const shown: string[] = [];
  const timeline = new LiveTimeline({ clock, write: (text) => void shown.push(text.trimEnd()) });
  const everything = new LocalCluster(server.handle, TOKEN, {
    general: readGeneral(document),
    document,
    known: families,
    selected: families,
    simulatedControllers: simulatedControllersNamed(['owner-gc', 'job-finisher']),
    externalKinds: [],
    timeline,
    clock,
    random,
    log: silentLog,
    ...more,
  });
  const rest = async () => {
    for (let i = 0; i < 60; i++) await nextTurn();
  };
  const pass = (length: Millis) => clock.advance(length, rest);
  const stop = async () => {
    const stopped = everything.stop();
    await pass(seconds(1));
    await stopped;
  };
  close = async () => {
    await stop();
    await server.close();
  };
  await everything.start(server);
  await rest();
  const story = () => shown.map((line) => line.replace(/^\S+ +/, '').replace(/ +/g, ' '));
  return { everything, server, clock, pass, rest, stop, story, timeline };
}

const job = `
apiVersion: batch/v1
kind: Job
metadata:
  name: report
  annotations: { simulation.lapse.dev/finish: succeeded after 5s }
spec:
  ttlSecondsAfterFinished: 10
  template: { spec: { restartPolicy: Never, containers: [{ name: a, image: a }] } }
`;

test('the timeline shows waiting and done objects with the responsible controller', async () => {
  const { everything, pass, rest, story, timeline, clock } = await start();
  await createUserClient(everything.user).apply(job);
  await rest();
  await pass(seconds(20));
  expect(story().slice(0, 2)).toEqual([
    'job/report finished ttl=10s',
    expect.stringMatching(/^job\/report waiting until \S+ \(ttl\)$/),
  ]);
  expect(story().at(-1)).toMatch(/^job\/report deleted/);
  expect(await everything.summary((at) => timeline.stamp(at))).toMatch(
    /^in 20s: 1 done, 0 waiting\n {2}ttl-after-finished +1 done, at most 0s late$/,
  );
  expect(clock.now()).toBeGreaterThan(0);
});

test('after a restart, waiting objects are shown before anything is due', async () => {
  const first = await start();
  await createUserClient(first.everything.user).apply(job);
  await first.rest();
  await first.pass(seconds(6));
  await first.stop();
  const second = await start(first);
  const wait = /^job\/report waiting until \S+ \(ttl\)$/;
  expect(second.story()).toEqual(first.story().filter((line) => wait.test(line)));
  expect(second.story()).toHaveLength(1);
  const stamp = (at: Instant) => second.timeline.stamp(at);
  expect(await second.everything.summary(stamp)).toMatch(/^in 0s: 0 done, 1 waiting \(next: job\/report at /);
});

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, singular: widget, kind: Widget, listKind: WidgetList }
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
`;

test('the first object of a kind whose CRD was just created is shown', async () => {
  const { everything, rest, story } = await start();
  const userClient = createUserClient(everything.user);
  await userClient.apply(job);
  await userClient.apply(widgets);
  await rest();
  everything.user.discovery.invalidate();
  await userClient.apply('apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: a }');
  await userClient.delete('widget/a');
  await rest();
  expect(story()).toContainEqual(expect.stringMatching(/^widget\/a deleted/));
});

test('admission policies of a gate are enforced while it is enabled', async () => {
  const served = await serve();
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'forever',
      namespace: 'default',
      annotations: { 'lapse.dev/ttl-seconds-after-finished': '60' },
    },
    spec: { containers: [{ name: 'main', image: 'example.com/x' }] },
  };
  const open = await start(served, { 'feature-gates': 'TTLAfterFinishedPods=true' });
  expect(await open.everything.user.create(Pod, pod)).toMatchObject({
    kind: 'invalid',
    error: { message: expect.stringContaining("ValidatingAdmissionPolicy 'lapse-pod-ttl'") },
  });
  await open.stop();
  const closed = await start(served);
  expect(await closed.everything.user.create(Pod, pod)).toMatchObject({ kind: 'created' });
});

test('an external client needs a valid token', async () => {
  const { everything } = await start();
  const ask = (headers: Record<string, string>, method = 'DELETE') =>
    everything.handle({ method, path: '/api/v1/namespaces/default/configmaps/x', headers });
  expect((await ask({})).status).toBe(403);
  expect((await ask({ authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await ask({ authorization: `Bearer ${TOKEN}` })).status).toBe(404);
  expect((await ask({}, 'GET')).status).toBe(403);
});

describe('the live timeline', () => {
  const line = (ref: string, action = 'deleted') => ({ at: instant(0), ref, action, detail: '' });
  test('shortens a burst on a terminal, with a note', async () => {
    const clock = new VirtualClock();
    const shown: string[] = [];
    const timeline = new LiveTimeline({ clock, columns: () => 80, write: (text) => void shown.push(text) });
    for (let i = 0; i < 100; i++) timeline.add(line(`job/${i}`));
    expect(shown).toHaveLength(40);
    await clock.advance(seconds(1));
    expect(shown.at(-1)).toContain('… and 60 more');
    timeline.add(line('job/later'));
    expect(shown.at(-1)).toContain('job/later');
  });

  test('is complete in a file', async () => {
    const clock = new VirtualClock();
    const shown: string[] = [];
    const timeline = new LiveTimeline({ clock, write: (text) => void shown.push(text) });
    for (let i = 0; i < 100; i++) timeline.add(line(`job/${i}`));
    await clock.advance(seconds(1));
    expect(shown).toHaveLength(100);
  });

  test('has room for deadlines and their reasons on 80 columns with names of any length', () => {
    const shown: string[] = [];
    const clock = new VirtualClock();
    const timeline = new LiveTimeline({ clock, columns: () => 80, write: (text) => void shown.push(text) });
    const at = clock.now();
    timeline.add({ at, ref: `job/${'long-'.repeat(20)}`, action: 'delete refused', detail: '' });
    timeline.add({ at, ref: 'job/report', action: 'waiting', detail: 'until 12:00:30 (ttl)' });
    expect(shown[1]).toContain('until 12:00:30 (ttl)');
    expect(Math.max(...shown.map((line) => line.trimEnd().length))).toBeLessThan(80);
  });

  test('does not show condition changes of other writers', () => {
    const shown: string[] = [];
    const timeline = new LiveTimeline({ clock: new VirtualClock(), write: (text) => void shown.push(text) });
    timeline.without('states', () => {
      timeline.add(line('pod/a', 'Ready=True'));
      timeline.add(line('pod/a', 'phase=Running'));
      timeline.add(line('pod/a', 'finished'));
    });
    timeline.add(line('pool/a', 'Ready=True'));
    expect(shown.map((text) => text.trim().split(/ +/).slice(-2).join(' '))).toEqual([
      'pod/a finished',
      'pool/a Ready=True',
    ]);
  });

  test('includes the date of another day', () => {
    const clock = new VirtualClock();
    const timeline = new LiveTimeline({ clock, write: () => {} });
    expect(timeline.stamp(clock.now())).toMatch(/^\d\d:\d\d:\d\d$/);
    expect(timeline.stamp(instant(clock.now() + 3 * 86_400_000))).toMatch(/^2026-01-\d\d \d\d:\d\d:\d\d$/);
  });
});

test('the tally counts a deletion once and shows the next one', () => {
  const clock = new VirtualClock();
  const tally = new Tally({ clock });
  const object = (deletionTimestamp?: string) => ({
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
  });
  const base = { at: clock.now(), serverAt: clock.now(), group: '', resource: 'as', kind: 'A', name: 'a' };
  tally.change({ ...base, before: object(), after: object('now'), by: 'process' });
  tally.change({ ...base, before: object('now'), by: 'process' });
  tally.change({ ...base, before: object(), by: 'user' });
  const pass = { now: clock.now(), reason: '', took: millis(0), controller: 'c' };
  const waits = (key: string, at: number) =>
    tally.reconcile({ ...pass, key, outcome: { kind: 'waitUntil', at: instant(at), why: 'ttl' } });
  waits('late', 2000);
  waits('soon', 1000);
  waits('settled', 500);
  tally.reconcile({ ...pass, key: 'settled', outcome: { kind: 'settled' } });
  expect(tally.text((at) => String(at))).toBe(
    'in 0s: 1 done, 2 waiting (next: c/soon at 1000)\n  lapse                   1 done',
  );
});

test('a wait that only leads to another evaluation is not shown as next', () => {
  const clock = new VirtualClock();
  const tally = new Tally({ clock });
  const pass = { now: clock.now(), reason: '', took: millis(0) };
  const looks = (controller: string) =>
    tally.reconcile({
      ...pass,
      controller,
      key: 'a',
      outcome: { kind: 'waitUntil', at: instant(5), why: 'look' },
    });
  looks('request-ttl');
  looks('of-a-module');
  const ahead = [{ family: 'request-ttl', ref: 'volumecapturerequest/a', at: instant(10) }];
  const { standings } = tally.overview({ ahead, families: new Set(['request-ttl']) });
  expect(standings).toMatchObject([
    { family: 'of-a-module', waiting: 1, next: { ref: 'of-a-module/a', at: 5 } },
    { family: 'request-ttl', waiting: 1, due: 1, next: { ref: 'volumecapturerequest/a', at: 10 } },
  ]);
});

describe('the welcome screen', () => {
  const screen = {
    url: 'https://127.0.0.1:65535',
    kubeconfig: '.lapse/kubeconfig',
    data: '.lapse',
    store: 'memory',
    controllers: Array.from({ length: 12 }, (_, i) => `controller-${i}`),
    simulatedControllers: [],
    examples: true,
    colour: false,
  } as const;

  test('shows what runs and how to connect', () => {
    const text = firstScreen({ ...screen, forecasts: true });
    expect(text).toMatch(/serving {6}https:\/\/127\.0\.0\.1:65535/);
    expect(text).toMatch(/simulated {4}none/);
    expect(text).toMatch(/^ {2}kubectl --kubeconfig \.lapse\/kubeconfig get namespaces$/m);
    expect(text).toMatch(/^ {2}(bin\/)?lapse plan$/m);
  });

  test.each([
    ['with examples', {}],
    ['without', { examples: false }],
    ['in a week', { week: true }],
  ])('fits 80 columns: %s', (_rule, also) => {
    const text = firstScreen({ ...screen, ...also });
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(text).not.toContain('lapse plan');
  });
});

test('the recorded settings are a valid configuration for a plan: all families, with their own rights', () => {
  const given = { actAs: 'controller', featureGates: { AllAlpha: true }, requestTTL: { ttl: '3m' } };
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {}, defaults: given });
  const text = renderSettings(document, [...FAMILIES, { name: 'of-a-module' }]);
  const file = { name: 'config.yaml', text };
  const read = loadConfiguration(FAMILIES, { flags: {}, environment: {}, file });
  expect(read).toEqual({ ...document, controllers: FAMILIES.map(({ name }) => name) });
});

test('read-only commands find the configuration of the cluster, also after a restart with another one', async () => {
  const settingsWith = (ttl: string) => {
    const defaults = { actAs: 'controller', requestTTL: { ttl } };
    return renderSettings(loadConfiguration(FAMILIES, { flags: {}, environment: {}, defaults }), FAMILIES);
  };
  const served = await serve();
  for (const ttl of ['3m', '5m']) {
    const { everything, stop } = await start(served, {}, { settings: settingsWith(ttl) });
    const sources = { flags: {}, environment: {} };
    const found = await loadForCluster(FAMILIES, sources, everything.user, () => {});
    expect(found).toMatchObject({ actAs: 'controller', requestTTL: { ttl } });
    await stop();
  }
});

test('the examples are read without the configuration and the custom controller', () => {
  const names = readExamples().map(({ name }) => name);
  expect(names.every((name) => /^\d\d-[\w-]+\/[\w-]+\.yaml$/.test(name))).toBe(true);
  expect(names.filter((name) => name.startsWith('00-'))).toEqual([]);
  expect(readExamples('/no/such/directory')).toEqual([]);
});
