// The read API in the process of the embedded API server, with RBAC.

import { noOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { localOutbound } from '@lapse/apiserver/aggregation/localOutbound';
import { tokenAuthenticator } from '@lapse/apiserver/authn/auth';
import { createServer } from '@lapse/apiserver/server';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import { createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { expect, test } from 'vitest';
import { capture, recordingContext, serveKinds } from './checkpoint.testkit.ts';
import { catCheckpoint } from './list.ts';
import { LOCAL_READ_API, localReadApi, registerLocalReadApi } from './local.ts';
import { manifestsPath } from './readApi.ts';

test('the embedded API server returns JSON to authorized users, 403 to others, and 404 after the API is removed', async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const users = new Map([
    ['root', { username: 'root', groups: ['system:masters'] }],
    ['reader', { username: 'reader', groups: ['system:authenticated'] }],
  ]);
  let serve: ReturnType<typeof localReadApi> | undefined;
  const services = { [LOCAL_READ_API]: ((...args) => serve!(...args)) as ReturnType<typeof localReadApi> };
  const server = await createServer({
    clock,
    random,
    authenticator: tokenAuthenticator(users),
    authorization: 'RBAC',
    outbound: localOutbound(services, noOutbound),
  });
  const clientOf = (token: string) =>
    createClient({
      transport: inProcessTransport(server.handle),
      clock,
      random,
      flow: 'none',
      credentials: fixedCredentials({ headers: bearer(token) }),
    });
  const [root, reader] = [clientOf('root'), clientOf('reader')];
  serve = localReadApi({ client: root, clock, log: silentLog });
  await serveKinds(root, clock);
  const objects = ['a', 'b'].map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'shop' },
  }));
  await capture(root, 'mcp-a', objects, { namespace: 'shop' });
  await registerLocalReadApi(root, true);
  const read = async (client: typeof root) => {
    // The API server starts to use the API asynchronously after its registration.
    for (let i = 0; i < 20; i++) await nextTurn();
    const { status, body } = await client.raw({ method: 'GET', path: manifestsPath('mcp-a'), headers: {} });
    return { status, text: Buffer.from(body).toString() };
  };
  const answer = await read(root);
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, objects]);
  expect((await read(reader)).status).toBe(403);

  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false } as const;
  const rules = [
    {
      apiGroups: ['subresources.state-snapshotter.deckhouse.io'],
      resources: ['manifestcheckpoints/manifests'],
      verbs: ['get'],
    },
    { apiGroups: ['state-snapshotter.deckhouse.io'], resources: ['manifestcheckpoints'], verbs: ['get'] },
  ];
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  await root.create(
    { ...rbac, kind: 'ClusterRole', resource: 'clusterroles' },
    { apiVersion, kind: 'ClusterRole', metadata: { name: 'r' }, rules },
  );
  await root.create(
    { ...rbac, kind: 'ClusterRoleBinding', resource: 'clusterrolebindings' },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'r' },
      roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'r' },
      subjects: [{ apiGroup: rbac.group, kind: 'User', name: 'reader' }],
    },
  );
  expect((await read(reader)).status).toBe(200);
  // A user who may not read chunks reads through the API.
  const commandContext = recordingContext(reader, clock);
  expect(await commandContext.run((at) => catCheckpoint(at, 'mcp-a', { output: 'json' }))).toBe(0);
  expect(JSON.parse(commandContext.take().out)).toEqual(objects);

  await registerLocalReadApi(root, false);
  expect((await read(root)).status).toBe(404);
  // Without the API, the right to chunks is reported as missing.
  expect(await commandContext.run((at) => catCheckpoint(at, 'mcp-a', { output: 'json' }))).toBe(1);
  expect(commandContext.take().said).toMatch(
    /manifestcheckpointcontentchunks.* is forbidden.*; request this permission/,
  );
  await server.close();
});
