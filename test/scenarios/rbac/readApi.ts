// The rights of the read API for checkpoints alone: those of the process that serves it, and those of a user who reads
// through it.

import { noOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { localOutbound } from '@lapse/apiserver/aggregation/localOutbound';
import { createServer } from '@lapse/apiserver/server';
import { seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { HttpHandler } from '@lapse/kube/api/http';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { openRegistration } from '@lapse/runtime/aggregated/registration';
import { readFrontProxy } from '@lapse/runtime/aggregated/requestHeader';
import { Faults } from '@lapse/simulation/faults';
import { createUserClient } from '@lapse/simulation/userClient';
import { type RequestRecord, Wire } from '@lapse/simulation/wire';
import { chunkObject, configMap, encodeAll } from 'lapse/checkpoint/checkpoint.testkit';
import { buildReadApi } from 'lapse/cli/checkpoint/apiService';
import { localReadApi } from 'lapse/cli/checkpoint/local';
import { manifestsPath } from 'lapse/cli/checkpoint/readApi';
import { manifestCapture } from 'lapse/controllers/manifest-capture/family';
import { expect } from 'vitest';
import { NAMESPACE } from './installation.ts';
import { namespaceOf, type RightsResult, refusedOf } from './rightsCase.ts';
import { ADMIN, OWN, PERSON, users } from './users.ts';

const PLACE = { name: 'lapse', namespace: NAMESPACE, selector: {}, targetPort: 443 };
const GROUP = 'rbac.authorization.k8s.io';
const CHECKPOINTS = '/apis/state-snapshotter.deckhouse.io/v1alpha1/manifestcheckpoints';
const NAME = 'mcp-a';

/** An operator grants the user read access. */
const READS = {
  apiVersion: `${GROUP}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'person-reads' },
  roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'lapse:checkpoint-reader' },
  subjects: [{ apiGroup: GROUP, kind: 'User', name: 'person' }],
} as KubeObject;

const [CHUNK] = encodeAll([configMap('a', { x: 'y' })]);
const CHECKPOINT = {
  apiVersion: 'state-snapshotter.deckhouse.io/v1alpha1',
  kind: 'ManifestCheckpoint',
  metadata: { name: NAME },
  spec: {
    sourceNamespace: 'default',
    manifestCaptureRequestRef: { name: 'before', namespace: 'default', uid: 'u' },
  },
  status: {
    chunks: [
      {
        name: `${NAME}-0`,
        index: 0,
        objectsCount: CHUNK!.objectsCount,
        sizeBytes: CHUNK!.sizeBytes,
        checksum: CHUNK!.checksum,
      },
    ],
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Completed',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  },
} as KubeObject;

/** Roles, bindings and registration, as in config/read-api and the chart. */
export const readApiObjects = (): KubeObject[] =>
  buildReadApi(PLACE).map((object) =>
    object.kind === 'Service'
      ? { ...object, spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port: 443 }] } }
      : object,
  );

interface Stage {
  readonly admin: Client;
  readonly own: Client;
  readonly person: Client;
  readonly clock: VirtualClock;
}

async function run({ admin, own, person, clock }: Stage): Promise<void> {
  expect((await readFrontProxy(own)).allowedNames).toEqual(['front-proxy']);
  const certificate = {
    current: () => ({ cert: 'C', key: 'K' }),
    onChange: () => () => {},
    caBundle: () => 'CA',
  };
  const name = 'v1alpha1.subresources.state-snapshotter.deckhouse.io';
  const registered = await openRegistration({ client: own, clock, log: silentLog, name, certificate });
  registered.close();
  const { spec } = (await createUserClient(admin).get(`apiservice/${name}`))!;
  expect((spec as { caBundle?: string }).caBundle).toBe(Buffer.from('CA').toString('base64'));
  const read = async (path: string) => {
    const { status, body } = await person.raw({ method: 'GET', path });
    expect(status, Buffer.from(body).toString()).toBe(200);
    return Buffer.from(body).toString();
  };
  expect(await read(CHECKPOINTS)).toContain(NAME);
  expect(await read(`${CHECKPOINTS}/${NAME}`)).toContain(NAME);
  expect(JSON.parse(await read(manifestsPath(NAME)))).toMatchObject([{ metadata: { name: 'a' } }]);
}

/** With these roles. */
export async function runReadApi(access: readonly KubeObject[]): Promise<RightsResult> {
  const clock = new VirtualClock();
  const random = seededRandom(5);
  const requests: RequestRecord[] = [];
  let handle: HttpHandler | undefined;
  const wire = new Wire({
    handler: (request) => handle!(request),
    faults: new Faults(),
    clock,
    onRequest: (record) => requests.push(record),
    onAnswer: () => {},
  });
  const clientOf = (token: string, via: HttpHandler): Client =>
    createClient({
      transport: inProcessTransport(via),
      clock,
      random,
      flow: 'none',
      credentials: fixedCredentials({ headers: bearer(token) }),
    });
  const admin = clientOf(ADMIN, (request) => handle!(request));
  const [own, person] = [clientOf(OWN, wire.handle), clientOf(PERSON, wire.handle)];
  const server = await createServer({
    clock,
    random,
    authenticator: users,
    authorization: 'RBAC',
    outbound: localOutbound(
      { [`lapse-api.${NAMESPACE}.svc`]: localReadApi({ client: own, clock, log: silentLog }) },
      noOutbound,
    ),
    frontProxy: { authority: 'PEM', name: 'front-proxy', certificate: { cert: '', key: '' } },
  });
  handle = server.handle;
  try {
    const userClient = createUserClient(admin);
    await userClient.apply(manifestCapture.kinds.map(({ crd }) => crd as KubeObject));
    await userClient.apply([namespaceOf(NAMESPACE), READS, chunkObject(NAME, 0, CHUNK!), CHECKPOINT]);
    // As soon as it is registered, the API server sends requests to it.
    const isRegistration = ({ kind }: KubeObject) => kind === 'APIService';
    await userClient.apply(access.filter((object) => !isRegistration(object)));
    await userClient.apply(access.filter(isRegistration));
    await clock.advance(seconds(60), nextTurn);
    await run({ admin, own, person, clock });
    return { refused: refusedOf(requests) };
  } catch (error) {
    return { refused: refusedOf(requests), missing: error as Error };
  } finally {
    await server.close();
  }
}
