// Checkpoints on a real kube-apiserver: captured by a `lapse run` with exactly the declared rights, read through the
// API server, restored by `lapse checkpoint`. Also: deletion of namespaces while the read API does not answer.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { defineKind } from '@lapse/kube/api/kind';
import { type Condition, ConfigMap, Namespace, Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { apiVersionOf } from '@lapse/kube/api/object';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import type { Transport } from '@lapse/kube/client/transport';
import { undiciTransport } from '@lapse/kube/client/undici';
import { createUserClient } from '@lapse/simulation/userClient';
import { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { buildReadApi } from 'lapse/cli/checkpoint/apiService';
import { capture, furnish, serveKinds } from 'lapse/cli/checkpoint/checkpoint.testkit';
import { manifestsPath, READ_GROUP, READ_VERSION } from 'lapse/cli/checkpoint/readApi';
import { buildInstallationAccess } from 'lapse/cli/manifests/access';
import { readInstallation } from 'lapse/cli/manifests/manifestsCommand';
import { FAMILIES } from 'lapse/controllers/registry';
import { applyCrds, kindsOf } from 'lapse/manager/crds';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { LapseProcess } from '../cmd/lapseProcess.ts';
import { type Bed, startBed } from './bed/bed.ts';
import { freePorts } from './bed/ports.ts';

const SYSTEM = 'lapse-system';
const API_SERVICE = `${READ_VERSION}.${READ_GROUP}`;
const ApiService = defineKind<KubeObject & { status?: { conditions?: Condition[] } }>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  resource: 'apiservices',
  namespaced: false,
});
const named = (group: string, kind: string, resource: string) =>
  defineKind<KubeObject & { spec: Record<string, unknown> }>({
    group,
    version: 'v1',
    kind,
    resource,
    namespaced: true,
  });
const Deployment = named('apps', 'Deployment', 'deployments');
const Service = named('', 'Service', 'services');
const Claim = named('', 'PersistentVolumeClaim', 'persistentvolumeclaims');
const Shelf = named('shop.example.com', 'Shelf', 'shelves');

const PATIENCE = { timeout: 120_000, interval: 250 };
const wires: Transport[] = [];
let bed: Bed;
let admin: Client;
let nobody: Client;
let lapse: LapseProcess;
let checkpoint: string;
let objects: KubeObject[];
let start: () => LapseProcess;

function clientOf(token: string): Client {
  const ca = readFileSync(bed.caFile, 'utf8');
  const transport = undiciTransport({ server: bed.url, clock: realClock, tls: { ca } });
  wires.push(transport);
  const credentials = fixedCredentials({ headers: bearer(token) });
  return createClient({ transport, clock: realClock, random: systemRandom, credentials });
}

function kubeconfigOf(name: string, token: string, namespace: string): string {
  const file = join(bed.directory, `${name}.kubeconfig`);
  const ca = readFileSync(bed.caFile, 'utf8');
  writeFileSync(file, renderKubeconfig({ name, server: bed.url, ca, token, namespace }));
  return file;
}

async function tokenOf(name: string): Promise<string> {
  const text = await bed.kubectl('create', 'token', name, '-n', SYSTEM);
  return text.trim();
}

/** The rights of an installation, and the right to read the captured objects. */
async function prepare(port: number): Promise<string> {
  const userClient = createUserClient(admin);
  const installation = readInstallation({
    namespace: SYSTEM,
    image: 'none',
    replicas: '1',
    controllers: 'manifest-capture,object-keeper',
    featureGates: '',
    actAs: 'author',
  });
  await userClient.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM } } as KubeObject);
  const selector = { app: 'lapse' };
  const registration = buildReadApi({ name: 'lapse', namespace: SYSTEM, selector, targetPort: port });
  for (const object of [...buildInstallationAccess(installation), ...registration]) {
    if (object.kind === 'Service')
      object.spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] };
    if (object.kind === 'APIService') (object.spec as { service: { port: number } }).service.port = port;
    await userClient.apply(object);
  }
  await bed.kubectl('create', 'clusterrole', 'reads', '--verb=get', '--resource=*.*');
  await bed.kubectl(
    'create',
    'clusterrolebinding',
    'reads',
    '--clusterrole=reads',
    `--serviceaccount=${SYSTEM}:lapse`,
  );
  const configuration = {
    apiVersion: 'lapse.dev/v1alpha1',
    kind: 'LapseConfiguration',
    controllers: ['manifest-capture', 'object-keeper'],
    capture: { authorization: 'Controller' },
    leaderElection: { enabled: false },
    metrics: { bindAddress: '0' },
    api: { bindAddress: `127.0.0.1:${port}` },
    webhook: { secret: 'lapse-webhook', hosts: [`lapse-api.${SYSTEM}.svc`] },
    log: { format: 'json' },
  };
  const file = join(bed.directory, 'lapse.yaml');
  writeFileSync(file, stringify(configuration));
  return file;
}

const conditionOf = async (type: string) =>
  (await admin.get(ApiService, { name: API_SERVICE }))?.status?.conditions?.find((one) => one.type === type);

beforeAll(async () => {
  bed = await startBed({ controllers: ['namespace-controller'] });
  admin = clientOf(bed.adminToken);
  nobody = clientOf(bed.nobodyToken);
  const families = FAMILIES.filter(({ name }) => ['manifest-capture', 'object-keeper'].includes(name));
  await applyCrds(admin, realClock, kindsOf(families));
  await serveKinds(admin);
  objects = await furnish(admin, 'shop');
  const [port] = await freePorts(1);
  const config = await prepare(port!);
  const kubeconfig = kubeconfigOf('lapse', await tokenOf('lapse'), SYSTEM);
  start = () => new LapseProcess(['run', '--config', config], { KUBECONFIG: kubeconfig });
  lapse = start();
  await lapse.says(/"serving an aggregated API"/);
  checkpoint = await captureShop();
});
afterAll(async () => {
  await lapse?.end('SIGKILL');
  await Promise.all(wires.map((wire) => wire.close?.()));
  await bed?.stop();
});

async function captureShop(): Promise<string> {
  const targets = objects.map(({ apiVersion, kind, metadata }) => ({
    apiVersion,
    kind,
    name: metadata.name!,
  }));
  const key = { namespace: 'shop', name: 'before' };
  objectOf(
    await admin.create(ManifestCaptureRequest, {
      apiVersion: apiVersionOf(ManifestCaptureRequest),
      kind: ManifestCaptureRequest.kind,
      metadata: key,
      spec: { targets },
    }),
  );
  const done = await vi.waitFor(async () => {
    const { status = {} } = (await admin.get(ManifestCaptureRequest, key))!;
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    expect(ready?.status, `${ready?.message}\n${lapse.out}`).toBe('True');
    return status;
  }, PATIENCE);
  return done.checkpointName!;
}

const raw = async (
  client: Client,
  path: string,
  more: { method?: string; headers?: Record<string, string> } = {},
) => {
  const { method = 'GET', headers = { accept: 'application/json' } } = more;
  const { status, headers: answered, body } = await client.raw({ method, path, headers });
  return { status, headers: answered, body: Buffer.from(body) };
};
const statusOf = ({ body }: { body: Buffer }) => JSON.parse(body.toString());

describe('through the API server', () => {
  test('the read API is available, with a self-managed certificate, and discovery answers', async () => {
    await vi.waitFor(async () => {
      const available = await conditionOf('Available');
      expect(available?.status, available?.message).toBe('True');
    }, PATIENCE);
    const list = JSON.parse(await bed.kubectl('get', '--raw', `/apis/${READ_GROUP}/${READ_VERSION}`));
    expect(list.resources).toMatchObject([{ name: 'manifestcheckpoints/manifests', verbs: ['get'] }]);
    expect(await bed.kubectl('api-versions')).toContain(`${READ_GROUP}/${READ_VERSION}`);
    // The plain name means the kinds themselves.
    expect(await bed.kubectl('get', 'manifestcheckpoints', '-o', 'name')).toContain(
      `manifestcheckpoint.state-snapshotter.deckhouse.io/${checkpoint}`,
    );
  });

  test('kubectl get --raw streams the objects as captured', async () => {
    const text = await bed.kubectl('get', '--raw', manifestsPath(checkpoint));
    expect(text).toContain('9007199254740993');
    const read = JSON.parse(text) as KubeObject[];
    expect(read).toHaveLength(objects.length);
    const { metadata, data } = objects.find(({ kind }) => kind === 'ConfigMap')!;
    const { managedFields: _, ...kept } = metadata;
    expect(read.find(({ kind }) => kind === 'ConfigMap')).toMatchObject({ metadata: kept, data });
    const zipped = await raw(admin, manifestsPath(checkpoint), {
      headers: { accept: 'application/json', 'accept-encoding': 'gzip' },
    });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(gunzipSync(zipped.body).toString())).toEqual(read);
  });

  test('404, 405 and 409 are Status objects', async () => {
    await capture(admin, 'mcp-unready', [], { namespace: 'shop', ready: false });
    expect(statusOf(await raw(admin, manifestsPath('mcp-none')))).toMatchObject({
      code: 404,
      reason: 'NotFound',
    });
    expect(statusOf(await raw(admin, manifestsPath('mcp-unready')))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: expect.stringContaining('not Ready'),
    });
    const post = await raw(admin, manifestsPath(checkpoint), { method: 'POST' });
    expect(statusOf(post)).toMatchObject({ code: 405, reason: 'MethodNotAllowed' });
  });

  test('a missing chunk aborts the stream, so that a client detects the incomplete answer', async () => {
    await capture(admin, 'mcp-torn', objects, { namespace: 'shop', most: 700 });
    await bed.kubectl('delete', 'manifestcheckpointcontentchunk', 'mcp-torn-1');
    await expect(bed.kubectl('get', '--raw', manifestsPath('mcp-torn'))).rejects.toThrow();
    const verified = await command(['verify', 'mcp-torn']);
    expect([verified.code, verified.out]).toEqual([
      1,
      expect.stringMatching(/chunk mcp-torn-1 .* is missing/),
    ]);
    await bed.kubectl('delete', 'manifestcheckpointcontentchunk', 'mcp-torn-0');
    expect(statusOf(await raw(admin, manifestsPath('mcp-torn')))).toMatchObject({
      code: 500,
      message: expect.stringContaining('mcp-torn-0'),
    });
  });

  test('403 without the right to read this one checkpoint', async () => {
    expect(statusOf(await raw(nobody, manifestsPath(checkpoint)))).toMatchObject({
      code: 403,
      reason: 'Forbidden',
    });
    const group = `manifestcheckpoints.${READ_GROUP}/manifests`;
    await bed.kubectl(
      'create',
      'clusterrole',
      'one',
      '--verb=get',
      `--resource=${group}`,
      `--resource-name=${checkpoint}`,
    );
    const list = 'manifestcheckpoints.state-snapshotter.deckhouse.io';
    await bed.kubectl('create', 'clusterrole', 'looks', '--verb=get,list', `--resource=${list}`);
    for (const role of ['one', 'looks'])
      await bed.kubectl('create', 'clusterrolebinding', role, `--clusterrole=${role}`, '--user=nobody');
    await vi.waitFor(
      async () => expect((await raw(nobody, manifestsPath(checkpoint))).status).toBe(200),
      PATIENCE,
    );
    expect((await raw(nobody, manifestsPath('mcp-unready'))).status).toBe(403);
    // The command reads the same way if it may not read chunks.
    const kubeconfig = kubeconfigOf('nobody', bed.nobodyToken, 'default');
    const cat = await command(['cat', checkpoint, '-o', 'json'], kubeconfig);
    expect([cat.code, JSON.parse(cat.out).length]).toEqual([0, objects.length]);
  });
});

/** A finished `lapse checkpoint`. */
async function command(args: readonly string[], kubeconfig = bed.kubeconfig) {
  const made = new LapseProcess(['checkpoint', ...args], { KUBECONFIG: kubeconfig });
  const code = await made.exited;
  return { code, out: made.out };
}

describe('restoring', () => {
  test('verifies, restores everything into a missing namespace, then changes nothing', async () => {
    const verified = await command(['verify', checkpoint]);
    expect([verified.code, verified.out]).toEqual([
      0,
      expect.stringMatching(/is complete: 9 objects in 1 chunk\n/),
    ]);
    const args = ['restore', checkpoint, '--namespace', 'copy'];
    const plan = await command(args);
    expect([plan.code, plan.out]).toEqual([0, expect.stringMatching(/9 to create[\s\S]*Add --yes/)]);
    expect(await admin.get(Namespace, { name: 'copy' })).toBeUndefined();

    const done = await command([...args, '--yes']);
    expect([done.code, done.out]).toEqual([0, expect.stringMatching(/\n9 created, 0 changed/)]);
    const at = (name: string) => ({ namespace: 'copy', name });
    const old = (await admin.get(Service, { namespace: 'shop', name: 'web' }))!;
    const service = (await admin.get(Service, at('web')))!;
    expect(service.spec.clusterIP).not.toBe(old.spec.clusterIP);
    expect((await admin.get(Claim, at('data')))!.spec.volumeName).toBeUndefined();
    expect((await admin.get(Secret, at('db')))!.data).toEqual({ password: 'aHVudGVyMg==' });
    expect((await admin.get(ConfigMap, at('settings')))!.data!.text).toBe('é 😀');
    expect((await admin.get(Shelf, at('left')))!.spec).toEqual({ size: 3, big: 9_007_199_254_740_993n });
    const deployment = (await admin.get(Deployment, at('web')))!;
    expect(deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBeUndefined();

    const again = await command([...args, '--yes']);
    expect([again.code, again.out]).toEqual([
      0,
      expect.stringMatching(/0 to create, 0 to change, 9 unchanged[\s\S]*Nothing to do/),
    ]);
    expect((await admin.get(Deployment, at('web')))!.metadata.resourceVersion).toBe(
      deployment.metadata.resourceVersion,
    );
  });

  test('in place: deleted objects are restored, differing ones corrected, with a message about the previous owner', async () => {
    await bed.kubectl('delete', 'secret', 'db', '-n', 'shop');
    await bed.kubectl('scale', 'deployment', 'web', '-n', 'shop', '--replicas=5');
    const refused = await command(['restore', checkpoint, '--yes']);
    expect([refused.code, refused.out]).toEqual([
      1,
      expect.stringMatching(/conflict[\s\S]*--force-conflicts/),
    ]);
    expect(await admin.get(Secret, { namespace: 'shop', name: 'db' })).toBeUndefined();
    const forced = await command(['restore', checkpoint, '--yes', '--force-conflicts', '-o', 'json']);
    expect(forced.code, forced.out).toBe(0);
    expect(JSON.parse(forced.out).results).toEqual([
      { result: 'created', object: 'v1 Secret shop/db' },
      { result: 'changed', object: 'apps/v1 Deployment shop/web' },
    ]);
    expect((await admin.get(Deployment, { namespace: 'shop', name: 'web' }))!.spec.replicas).toBe(2);
  });
});

describe('namespaces', () => {
  const make = async (name: string) => {
    await bed.kubectl('create', 'namespace', name);
    await bed.kubectl('create', 'configmap', 'x', '-n', name);
    await bed.kubectl('delete', 'namespace', name, '--wait=false');
  };
  const isGone = (name: string) =>
    vi.waitFor(async () => expect(await admin.get(Namespace, { name })).toBeUndefined(), PATIENCE);

  test('are deleted while the API answers, wait while it is registered but does not answer, and are deleted once it is removed', async () => {
    await make('first');
    await isGone('first');

    await lapse.end();
    await vi.waitFor(async () => expect((await conditionOf('Available'))?.status).toBe('False'), PATIENCE);
    await make('second');
    await vi.waitFor(async () => {
      const { status } = (await admin.get(Namespace, { name: 'second' }))!;
      const failure = status?.conditions?.find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure');
      expect([failure?.status, failure?.message]).toEqual(['True', expect.stringContaining(READ_GROUP)]);
    }, PATIENCE);

    lapse = start();
    await lapse.says(/"serving an aggregated API"/);
    await isGone('second');

    await lapse.end();
    await bed.kubectl('delete', 'apiservice', API_SERVICE);
    await make('third');
    await isGone('third');
  });
});
