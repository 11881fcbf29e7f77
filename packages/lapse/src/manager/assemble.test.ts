import { createServer } from '@lapse/apiserver/server';
import type { Log } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { HttpRequest } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { createClient } from '@lapse/kube/client/client';
import { anonymous } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { defineController } from '@lapse/runtime/definition';
import { Lease } from '@lapse/runtime/election/lease';
import { settled } from '@lapse/runtime/outcome';
import { afterEach, describe, expect, test } from 'vitest';
import { logStartup } from '#cli/startup';
import type { Family, Services } from '#controllers/family';
import { assemble } from './assemble.ts';
import { readGeneral } from './configuration/general.ts';
import { loadConfiguration } from './configuration/load.ts';

const cleanup: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

/** A family that labels every ConfigMap and records the arguments it was created with. */
class Marker implements Family {
  readonly name = 'marker';
  readonly description = '';
  readonly defaultOn = true;
  readonly kinds = [];
  readonly gates = [{ name: 'Marking', default: false, stage: 'alpha' as const, description: '' }];
  readonly configuration = {
    marker: { type: 'object', properties: { label: { type: 'string', default: 'seen' } } },
  };
  services: Services | undefined;
  section: JsonObject | undefined;

  create(services: Services, { marker }: Readonly<Record<string, JsonObject>>) {
    this.services = services;
    this.section = marker;
    const controller = defineController<ConfigMap>({
      name: 'marker',
      for: ConfigMap,
      rights: [{ group: '', resource: 'configmaps', verbs: ['patch'] }],
      async reconcile(ctx) {
        const object = ctx.cache.get(ConfigMap, ctx.key);
        if (object === undefined || object.metadata.labels?.['seen'] !== undefined) return settled();
        await ctx.client.patch(ConfigMap, ctx.key, {
          type: 'merge',
          patch: { metadata: { labels: { seen: '1' } } },
        });
        return settled();
      },
    });
    return { controllers: [controller], admission: [] };
  }
}

async function start(
  flags: Record<string, string> = {},
  deny: (request: HttpRequest) => boolean = () => false,
) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const server = await createServer({ clock, random });
  const requests: HttpRequest[] = [];
  const transport = inProcessTransport(async (request) => {
    requests.push(request);
    if (!deny(request)) return server.handle(request);
    const body = {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'v1',
      metadata: {},
      status: { allowed: false },
    };
    const bytes = Buffer.from(JSON.stringify(body));
    return { status: 201, headers: { 'content-type': 'application/json' }, body: bytes };
  });
  const family = new Marker();
  const document = loadConfiguration([family], { flags, environment: {} });
  const lines: string[] = [];
  const say = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: () => {}, info: say, warn: say, error: say, with: () => log };
  const assembly = assemble({
    connection: { transport, leaseTransport: transport, credentials: anonymous, namespace: 'lapse-system' },
    general: readGeneral(document),
    document,
    known: [family],
    selected: [family],
    clock,
    random,
    log,
    identity: 'one',
  });
  const user = createClient({ transport: inProcessTransport(server.handle), clock, random, flow: 'none' });
  const pass = async (length: number) => {
    for (let i = 0; i < 30; i++) await nextTurn();
    await clock.advance(length as never, async () => {
      for (let i = 0; i < 30; i++) await nextTurn();
    });
  };
  cleanup.push(async () => {
    const stopped = assembly.manager.stop();
    await pass(60_000);
    await stopped;
    await server.close();
  });
  await user.create(
    { ...Lease, resource: 'namespaces', group: '', kind: 'Namespace', namespaced: false },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'lapse-system' },
    },
  );
  await user.create(ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default' },
  });
  const labels = async () =>
    (await user.get(ConfigMap, { namespace: 'default', name: 'a' }))?.metadata.labels;
  const leases = async () =>
    (await user.list(Lease)).items.map(({ metadata: m }) => `${m.namespace}/${m.name}`);
  return { assembly, family, services: family.services!, pass, requests, lines, log, labels, leases };
}

test('families are created with their sections and act after the lease is acquired', async () => {
  const { assembly, family, pass, labels, leases } = await start();
  expect(family.section).toEqual({ label: 'seen' });
  assembly.manager.start();
  await pass(5000);
  expect(await leases()).toEqual(['lapse-system/lapse']);
  expect(await labels()).toEqual({ seen: '1' });
  expect(assembly.registry.text()).toMatch(/leader_election_master_status\{name="lapse"\} 1/);
});

test('a dry run changes nothing and uses another lease than an active process', async () => {
  const { assembly, pass, labels, leases, requests } = await start({ 'dry-run': 'true' });
  assembly.manager.start();
  await pass(5000);
  expect(await leases()).toEqual(['lapse-system/lapse-dry-run']);
  expect(await labels()).toBeUndefined();
  const writes = requests.filter(({ method, path }) => method === 'PATCH' && path.includes('configmaps'));
  expect(writes.length).toBeGreaterThan(0);
  expect(writes.every(({ path }) => path.includes('dryRun=All'))).toBe(true);
});

test('without leader election the manager acts at once', async () => {
  const { assembly, pass, labels, leases } = await start({ 'leader-elect': 'false' });
  assembly.manager.start();
  await pass(10);
  expect(await labels()).toEqual({ seen: '1' });
  expect(await leases()).toEqual([]);
});

describe('services', () => {
  const account = { namespace: 'team', name: 'bot' };
  test('impersonation sends the user name without groups, and nothing is written before the lease is acquired', async () => {
    const { services, requests, assembly, pass } = await start();
    const client = services.impersonate(account);
    expect(services.impersonate(account)).toBe(client);
    await client.get(ConfigMap, { namespace: 'default', name: 'a' });
    const { headers } = requests.at(-1)!;
    expect(headers).toMatchObject({ 'impersonate-user': 'system:serviceaccount:team:bot' });
    expect(headers).not.toHaveProperty('impersonate-group');
    const remove = () => client.delete(ConfigMap, { namespace: 'default', name: 'a' });
    await expect(remove()).rejects.toThrow(/does not lead/);
    assembly.manager.start();
    await pass(5000);
    expect((await remove()).kind).toBe('deleted');
  });

  test('impersonating clients change nothing in a dry run', async () => {
    const { services, requests } = await start({ 'dry-run': 'true', 'leader-elect': 'false' });
    await services.impersonate(account).delete(ConfigMap, { namespace: 'default', name: 'a' });
    expect(requests.at(-1)).toMatchObject({ method: 'DELETE' });
    const sent = requests.at(-1)!;
    expect(`${sent.path} ${Buffer.from(sent.body ?? []).toString()}`).toMatch(/dryRun/);
  });

  test('contain gates, namespace and actAs', async () => {
    const flags = { 'feature-gates': 'Marking=true', namespace: 'team', 'act-as': 'controller' };
    const { services } = await start(flags);
    expect(services.isEnabled('Marking')).toBe(true);
    expect(() => services.isEnabled('Other')).toThrow(/no family declares/);
    expect([services.namespace, services.actAs]).toEqual(['team', 'controller']);
  });

  test('contain one budget per controller', async () => {
    const { services } = await start({ 'max-deletions-per-minute': '1', 'paranoid-reread': 'true' });
    const habits = services.deletion!('x');
    expect(services.deletion!('x').budget).toBe(habits.budget);
    expect(services.deletion!('y').budget).not.toBe(habits.budget);
    expect(habits.rereadFirst).toBe(true);
    const now = services.clock.now();
    expect(habits.budget!.claim('1', now).kind).toBe('go');
    expect(habits.budget!.claim('2', now).kind).toBe('wait');
  });
});

test('the startup log lists the controllers and the missing rights', async () => {
  const refused = (request: HttpRequest) =>
    /selfsubjectaccessreviews/.test(request.path) && Buffer.from(request.body!).includes('"verb":"patch"');
  const { assembly, services, lines, log } = await start({}, refused);
  const { families, lease } = assembly;
  await logStartup({ client: services.client, log, families, lease });
  expect(lines).toEqual([
    'starting controllers {"family":"marker","controllers":["marker"]}',
    'permissions are missing {"controller":"events","missing":["patch events.events.k8s.io"]}',
    'permissions are missing {"controller":"marker","missing":["patch configmaps"]}',
  ]);
});
