// The checkpoint commands against the embedded API server: output, effects and exit codes.

import { createServer } from '@lapse/apiserver/server';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import { defineKind } from '@lapse/kube/api/kind';
import { ConfigMap, Namespace, Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { UsageError } from '#manager/usage';
import {
  capture,
  furnish,
  type RememberingDesk,
  recordingContext,
  serveKinds,
} from './checkpoint.testkit.ts';
import { type CatFlags, catCheckpoint, listCheckpoints, verifyCommand } from './list.ts';
import { type RestoreFlags, restoreCheckpoint } from './restore.ts';

const Deployment = defineKind<KubeObject & { spec: { replicas?: number } }>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  namespaced: true,
});
const Shelf = defineKind({
  group: 'shop.example.com',
  version: 'v1',
  kind: 'Shelf',
  resource: 'shelves',
  namespaced: true,
});

let client: Client;
let commandContext: RememberingDesk;
let objects: KubeObject[];
let writes: string[] = [];
/** Each test has its own namespace and checkpoint. */
let count = 0;
let shop: string;
let copy: string;
let name: string;

beforeAll(async () => {
  const clock = new VirtualClock();
  const server = await createServer({ clock, random: seededRandom(1) });
  const transport = inProcessTransport((request) => {
    const isDry = request.path.includes('dryRun=All');
    if (request.method !== 'GET' && !isDry) writes.push(`${request.method} ${request.path.split('?')[0]}`);
    return server.handle(request);
  });
  client = createClient({ transport, clock, random: seededRandom(2), flow: 'none' });
  commandContext = recordingContext(client, clock);
  await serveKinds(client, clock);
});

beforeEach(async () => {
  count++;
  [shop, copy, name] = [`shop-${count}`, `copy-${count}`, `mcp-${count}`];
  objects = await furnish(client, shop);
  await capture(client, name, objects, { namespace: shop, most: 700 });
  writes = [];
});

/** The output since the last call, with the same names in every test. */
function taken(at: RememberingDesk = commandContext): { out: string; said: string } {
  const { out, said } = at.take();
  const plain = (text: string) =>
    text.replaceAll(shop, 'shop').replaceAll(copy, 'copy').replaceAll(name, 'mcp-x');
  return { out: plain(out), said: plain(said) };
}

const restore = (flags: Partial<RestoreFlags> = {}, of = name) =>
  commandContext.run((at) => restoreCheckpoint(at, of, { output: 'text', ...flags }));
const cat = (flags: Partial<CatFlags> = {}) =>
  commandContext.run((at) => catCheckpoint(at, name, { output: 'json', ...flags }));

async function breakChunk(index: number): Promise<void> {
  const key = { name: `${name}-${index}` };
  const chunk = (await client.get(ManifestCheckpointContentChunk, key))!;
  await client.delete(ManifestCheckpointContentChunk, key);
  const data = `${chunk.spec!.data[0] === 'A' ? 'B' : 'A'}${chunk.spec!.data.slice(1)}`;
  objectOf(
    await client.create(ManifestCheckpointContentChunk, {
      ...chunk,
      metadata: key,
      spec: { ...chunk.spec!, data },
    }),
  );
}

describe('read commands', () => {
  test('ls lists the checkpoints', async () => {
    await capture(client, `${name}-unfinished`, [], { namespace: shop, ready: false });
    expect(await commandContext.run((at) => listCheckpoints(at, { output: 'text', namespace: shop }))).toBe(
      0,
    );
    const lines = taken().out.split('\n');
    expect(lines[0]).toMatch(/^NAME +NAMESPACE +OBJECTS +SIZE +READY +AGE +REQUEST$/);
    expect(lines[1]).toMatch(/^mcp-x +shop +9 +[\d.]+ kB +yes +0s +before$/);
    expect(lines[2]).toMatch(/^mcp-x-unfinished +shop +no \(Unknown\) +0s +before$/);
    await commandContext.run((at) => listCheckpoints(at, { output: 'json', namespace: shop }));
    expect(JSON.parse(taken().out).items).toHaveLength(2);
    await commandContext.run((at) => listCheckpoints(at, { output: 'yaml', namespace: shop }));
    expect(parse(taken().out).items).toHaveLength(2);
    await commandContext.run((at) => listCheckpoints(at, { output: 'text', namespace: 'other' }));
    expect(taken()).toEqual({ out: '', said: 'no checkpoints of namespace other\n' });
  });

  test('cat prints what was captured, as JSON and as YAML', async () => {
    expect(await cat()).toBe(0);
    const { out } = taken();
    expect(out).toContain('9007199254740993');
    const read = JSON.parse(out) as KubeObject[];
    expect(read).toHaveLength(objects.length);
    expect(read.find(({ kind }) => kind === 'ConfigMap')!.data).toEqual({
      text: 'é 😀',
      url: 'http://db.shop.svc:5432',
    });
    await cat({ output: 'yaml' });
    const documents = parseAllDocuments(taken().out).map((one) => (one as { toJS(): unknown }).toJS());
    expect(documents.map((one) => (one as KubeObject).kind)).toEqual(read.map(({ kind }) => kind));
  });

  test('cat prints selected objects, and reports an empty or unknown selection', async () => {
    await cat({ only: ['configmap/settings', 'Shelf'] });
    expect(JSON.parse(taken().out)).toHaveLength(2);
    expect(await cat({ only: ['Secret/other'] })).toBe(0);
    expect(taken()).toEqual({ out: '[]\n', said: 'mcp-x contains no Secret/other\n' });
    await expect(cat({ only: ['a/b/c'] })).rejects.toThrow(UsageError);
    await expect(restore({}, 'mcp-none')).rejects.toThrow(/"lapse checkpoint ls" lists them/);
    await expect(restore({}, '../x')).rejects.toThrow(/not the name of a checkpoint/);
    expect(await cat({ maxObjects: 3 })).toBe(1);
    expect(taken().said).toMatch(/9 objects, .* limit of 3; --max-objects raises it/);
  });

  test('verify names the damaged chunk, and cat stops before it', async () => {
    const verify = (output: 'text' | 'json') =>
      commandContext.run((at) => verifyCommand(at, name, { output }));
    expect(await verify('text')).toBe(0);
    const whole = taken().out;
    expect(whole).toMatch(/^ok {3}mcp-x-0 {2}\d+ objects?, \d+ B\n/);
    expect(whole).toMatch(/is complete: 9 objects in \d+ chunks\n$/);
    await breakChunk(1);
    expect(await verify('text')).toBe(1);
    expect(taken().out).toMatch(/\nbad {2}chunk mcp-x-1 .* is damaged/);
    expect(await verify('json')).toBe(1);
    const report = JSON.parse(taken().out);
    expect(report.ok).toBe(false);
    expect(report.chunks.filter((one: { problem?: string }) => one.problem !== undefined)).toHaveLength(1);
    expect(await cat()).toBe(1);
    const { out, said } = taken();
    expect(out).not.toMatch(/\]\n$/);
    expect(said).toMatch(/^lapse: chunk mcp-x-1 .* damaged: .*; "lapse checkpoint verify"/);
    expect(await restore({ yes: true })).toBe(1);
    expect(writes.filter((write) => !write.includes('chunks'))).toEqual([]);
  });

  test('a checkpoint that is not Ready is not read', async () => {
    await capture(client, `${name}-unfinished`, [], { namespace: shop, ready: false });
    expect(await restore({}, `${name}-unfinished`)).toBe(1);
    expect(taken().said).toMatch(/is not Ready .*; it can be read when its capture/);
  });
});

describe('restore', () => {
  test('into a missing namespace prints a plan, then restores everything, then has nothing to do', async () => {
    expect(await restore({ namespace: copy })).toBe(0);
    const { out } = taken();
    expect(out).toMatch(/create +v1 Namespace copy\n/);
    expect(out).toMatch(/create +apps\/v1 Deployment copy\/web\n +checked when its namespace exists/);
    expect(out).toMatch(/ConfigMap copy\/settings[\s\S]*note: data.url still names shop/);
    expect(out).toMatch(
      /9 to create, 0 to change[\s\S]*Nothing has been changed. Add --yes to carry it out.\n$/,
    );
    expect(writes).toEqual([]);

    expect(await restore({ namespace: copy, yes: true })).toBe(0);
    expect(taken().out).toMatch(/\n9 created, 0 changed/);
    expect((await client.get(Namespace, { name: copy }))!.metadata.labels).toMatchObject({ team: 'a' });
    const deployment = (await client.get(Deployment, { namespace: copy, name: 'web' }))!;
    expect(deployment.metadata.annotations).toBeUndefined();
    expect(deployment.spec.replicas).toBe(2);
    const shelf = (await client.get(Shelf, { namespace: copy, name: 'left' }))!;
    expect(shelf.spec).toEqual({ size: 3, big: 9_007_199_254_740_993n });

    writes = [];
    expect(await restore({ namespace: copy, yes: true })).toBe(0);
    expect(taken().out).toMatch(/0 to create, 0 to change, 9 unchanged[\s\S]*Nothing to do.\n$/);
    expect(writes).toEqual([]);
  });

  test('in place creates deleted objects, and shows and reverts differences', async () => {
    await client.delete(Secret, { namespace: shop, name: 'db' });
    objectOf(
      await client.patch(
        Deployment,
        { namespace: shop, name: 'web' },
        { type: 'merge', patch: { spec: { replicas: 5 } } },
        { fieldManager: 'somebody' },
      ),
    );
    writes = [];
    expect(await restore({ yes: true })).toBe(1);
    const refused = taken().out;
    expect(refused).toMatch(/refused +apps\/v1 Deployment shop\/web\n.*conflict.*--force-conflicts/);
    expect(refused).toMatch(/Nothing has been changed: the API server refuses some objects/);
    expect(writes).toEqual([]);

    expect(await restore({ yes: true, forceConflicts: true })).toBe(0);
    const { out } = taken();
    expect(out).toMatch(/change +apps\/v1 Deployment shop\/web\n +spec.replicas: 5 → 2\n/);
    expect(out).toMatch(/create +v1 Secret shop\/db/);
    expect(out).toMatch(/\n1 created, 1 changed, \d unchanged/);
    expect(writes).toHaveLength(2);
    expect((await client.get(Deployment, { namespace: shop, name: 'web' }))!.spec.replicas).toBe(2);
    expect((await client.get(Secret, { namespace: shop, name: 'db' }))!.data).toEqual({
      password: 'aHVudGVyMg==',
    });
  });

  test('restores only selected objects, prints JSON, and writes nothing with --dry-run', async () => {
    await client.delete(ConfigMap, { namespace: shop, name: 'settings' });
    await client.delete(Secret, { namespace: shop, name: 'db' });
    writes = [];
    await restore({ output: 'json', yes: true, dryRun: true });
    const planned = JSON.parse(taken().out);
    expect(planned).toMatchObject({ checkpoint: 'mcp-x', source: 'shop', target: 'shop', carriedOut: false });
    expect(writes).toEqual([]);
    await restore({ output: 'json', yes: true, only: ['secret/db'] });
    expect(JSON.parse(taken().out)).toEqual({
      checkpoint: 'mcp-x',
      source: 'shop',
      target: 'shop',
      carriedOut: true,
      plan: [{ action: 'create', object: 'v1 Secret shop/db', checked: true }],
      results: [{ result: 'created', object: 'v1 Secret shop/db' }],
    });
    expect(await client.get(ConfigMap, { namespace: shop, name: 'settings' })).toBeUndefined();
    await expect(restore({ only: ['Secret/none'] })).rejects.toThrow(
      /"lapse checkpoint cat" shows its objects/,
    );
    await expect(restore({ namespace: 'Not A Name' })).rejects.toThrow(UsageError);
  });

  test('creates a namespace that was not captured only on request', async () => {
    const of = `${name}-without`;
    await capture(
      client,
      of,
      objects.filter(({ kind }) => kind === 'ConfigMap'),
      { namespace: shop },
    );
    expect(await restore({ namespace: 'fresh', yes: true }, of)).toBe(1);
    expect(taken().said).toMatch(/namespace fresh does not exist .*; add --create-namespace/);
    expect(await restore({ namespace: 'fresh', yes: true, createNamespace: true }, of)).toBe(0);
    expect(taken().out).toMatch(/\n2 created/);
  });

  test('stops when the API server rejects an object, and continues only on request', async () => {
    const odd = { ...objects.find(({ kind }) => kind === 'ConfigMap')!, data: { a: 1 } };
    odd.metadata = { ...odd.metadata, name: 'odd' };
    const unserved = { ...odd, apiVersion: 'example.com/v1', kind: 'Nothing', data: {} };
    const stranger = { ...odd, metadata: { name: 'stranger', namespace: 'kube-system' } };
    const of = `${name}-odd`;
    const secrets = objects.filter(({ kind }) => kind === 'Secret');
    await capture(client, of, [odd, unserved, stranger, ...secrets], { namespace: shop });
    await client.delete(Secret, { namespace: shop, name: 'db' });
    writes = [];
    expect(await restore({ yes: true }, of)).toBe(1);
    const { out } = taken();
    expect(out).toMatch(/refused +v1 ConfigMap shop\/odd/);
    expect(out).toMatch(/example.com\/v1 Nothing is not served; install its CustomResourceDefinition first/);
    expect(out).toMatch(/skip +v1 ConfigMap kube-system\/stranger\n +it is not of the namespace shop/);
    expect(writes).toEqual([]);
    expect(await restore({ yes: true, skipRefused: true }, of)).toBe(0);
    expect(taken().out).toMatch(/\n1 created/);
  });

  test('checks objects in a new namespace after creating it and before writing anything else', async () => {
    const odd = { ...objects.find(({ kind }) => kind === 'ConfigMap')!, data: { a: 1 } };
    odd.metadata = { ...odd.metadata, name: 'odd' };
    const of = `${name}-late`;
    await capture(client, of, [...objects, odd], { namespace: shop });
    writes = [];
    expect(await restore({ namespace: copy, yes: true }, of)).toBe(1);
    expect(taken().out).toMatch(/created +v1 Namespace copy\n +failed +v1 ConfigMap copy\/odd/);
    expect(writes).toEqual([`PATCH /api/v1/namespaces/${copy}`]);
    expect(await restore({ namespace: copy, yes: true, skipRefused: true }, of)).toBe(0);
    expect(taken().out).toMatch(/\n8 created/);
  });

  test('does not overwrite an object that changed after the comparison', async () => {
    const key = { namespace: shop, name: 'settings' };
    const patch = (text: string) =>
      client.patch(
        ConfigMap,
        key,
        { type: 'merge', patch: { data: { text } } },
        { fieldManager: 'lapse-restore' },
      );
    await patch('other');
    const meddling: Client = {
      ...client,
      apply: async (kind, object, options) => {
        if (options?.dryRun !== true) await patch('meanwhile');
        return client.apply(kind, object, options);
      },
    };
    const at = recordingContext(meddling);
    const flags = { output: 'text', yes: true, only: ['ConfigMap'], forceConflicts: true } as const;
    expect(await at.run((one) => restoreCheckpoint(one, name, flags))).toBe(1);
    expect(taken(at).out).toMatch(
      /failed +v1 ConfigMap shop\/settings\n.*modified[\s\S]*repeat the command to continue/,
    );
    expect((await client.get(ConfigMap, key))!.data!.text).toBe('meanwhile');
  });
});
