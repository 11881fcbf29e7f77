// For tests: an in-process cluster, examined as `lapse doctor` does.

import { tokenAuthenticator } from '@lapse/apiserver/authn/auth';
import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { type Millis, millis, seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import type { Transport } from '@lapse/kube/client/transport';
import { SkewedClock } from '@lapse/simulation/skewedClock';
import { readManifests } from '@lapse/simulation/userClient';
import { afterEach, expect } from 'vitest';
import { FAMILIES } from '#controllers/registry';
import { assemble } from '#manager/assemble';
import { readGeneral } from '#manager/configuration/general';
import { loadConfiguration } from '#manager/configuration/load';
import { kindsOf } from '#manager/crds';
import { selectFamilies } from '#manager/selection';
import { examine } from './examine.ts';
import { readOnlyWithReviews } from './readOnlyWithReviews.ts';

let server: ApiServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

interface Setting {
  readonly controllers?: string;
  /** The text of a configuration file. */
  readonly configuration?: string;
  readonly rbac?: boolean;
  /** The API server's clock relative to the local one. */
  readonly skew?: Millis;
  readonly objects?: string | readonly KubeObject[];
  readonly kinds?: (crds: readonly KubeObject[]) => readonly KubeObject[];
  readonly transport?: Transport;
}

export async function look(setting: Setting = {}) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const user = { username: 'lapse', groups: ['system:authenticated'] };
  server = await createServer({
    clock: new SkewedClock(clock, setting.skew ?? millis(0)),
    random,
    authenticator: tokenAuthenticator(new Map([['t', user]])),
    authorization: setting.rbac === true ? 'RBAC' : 'AlwaysAllow',
  });
  const selected = selectFamilies(FAMILIES, (setting.controllers ?? 'ttl-after-finished').split(','));
  const { kinds = (all) => all, objects = [] } = setting;
  for (const crd of kinds(kindsOf(selected).map((kind) => kind.crd))) await server.importObject(crd);
  for (const object of typeof objects === 'string' ? readManifests(objects) : objects)
    expect(await server.importObject(object)).toBe(true);
  const asked = new Set<string>();
  const { handle } = server;
  const wire = inProcessTransport(async (request) => {
    asked.add(`${request.method} ${request.method === 'GET' ? '' : request.path.replace(/\?.*/, '')}`.trim());
    await clock.advance(millis(60));
    return handle(request);
  });
  const transport = readOnlyWithReviews(setting.transport ?? wire);
  const { configuration } = setting;
  const file = configuration === undefined ? {} : { file: { name: 'lapse.yaml', text: configuration } };
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {}, ...file });
  const general = readGeneral(document);
  const credentials = fixedCredentials({ headers: bearer('t') });
  const connection = { transport, leaseTransport: transport, credentials, namespace: 'default' };
  const context = { clock, random, log: silentLog, identity: 'doctor' };
  const assembly = assemble({ ...context, connection, general, document, known: FAMILIES, selected });
  const { client } = assembly.services;
  let isOver = false;
  const examined = examine({ client, clock, general, selected, assembly }).finally(() => {
    isOver = true;
  });
  // A request without a response is retried later.
  while (setting.transport !== undefined && !isOver) await clock.advance(seconds(5), nextTurn);
  const findings = await examined;
  const said = (check: string) =>
    findings
      .filter((one) => one.check === check)
      .map(({ level, about, message }) => `${level} ${about}: ${message}`);
  return { findings, asked, said, client };
}
