// A cluster for families under separate service accounts: their kinds, the namespace of the process, and simulated
// controllers that the examples need and a bare API server lacks.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import type { Transport } from '@lapse/kube/client/transport';
import { undiciTransport } from '@lapse/kube/client/undici';
import { Manager } from '@lapse/runtime/manager';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { createUserClient, type UserClient } from '@lapse/simulation/userClient';
import { FAMILIES } from 'lapse/controllers/registry';
import { applyCrds, kindsOf } from 'lapse/manager/crds';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { LapseProcess } from '../../cmd/lapseProcess.ts';
import { NAMESPACE } from '../../scenarios/rbac/installation.ts';

export interface Place {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly adminToken: string;
  /** For files of the test. */
  readonly directory: string;
}

export interface FamilyCluster {
  /** Client of the administrator. */
  readonly userClient: UserClient;
  clientOf(token: string): Client;
  /** A token of a service account; `namespace` is that of the process by default. */
  tokenOf(account: string, namespace?: string): Promise<string>;
  /** `lapse run` with these flags, as this service account. Requests that completed a second ago are old enough. */
  run(account: string, token: string, flags: readonly string[]): LapseProcess;
  /** Stops what `run` started. */
  endProcesses(): Promise<void>;
  close(): Promise<void>;
}

export async function openFamilyCluster({ url, ca, adminToken, directory }: Place): Promise<FamilyCluster> {
  const connection: Transport[] = [];
  const running: LapseProcess[] = [];
  const open = () => {
    const wire = undiciTransport({ server: url, clock: realClock, tls: { ca } });
    connection.push(wire);
    return wire;
  };
  const clientOf = (token: string) =>
    createClient({
      transport: open(),
      clock: realClock,
      random: systemRandom,
      credentials: fixedCredentials({ headers: bearer(token) }),
    });
  const admin = clientOf(adminToken);
  const userClient = createUserClient(admin);
  await applyCrds(admin, realClock, [...kindsOf(FAMILIES), ...STOCK_SNAPSHOT_KINDS]);
  await userClient.apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE },
  } as KubeObject);
  const controllers = simulatedControllersNamed(['*']);
  const simulatedControllers = new Manager({
    clock: realClock,
    random: systemRandom,
    client: admin,
    controllers,
  });
  simulatedControllers.start();
  const endProcesses = async () => {
    await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
  };
  return {
    userClient,
    clientOf,
    async tokenOf(account, namespace = NAMESPACE) {
      const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
      const answer = await admin.raw({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: Buffer.from(body),
      });
      return JSON.parse(Buffer.from(answer.body).toString()).status.token;
    },
    run(account, token, flags) {
      const own = join(directory, account);
      mkdirSync(own, { recursive: true });
      const kubeconfig = join(own, 'kubeconfig');
      const text = renderKubeconfig({ name: account, server: url, ca, token, namespace: NAMESPACE });
      writeFileSync(kubeconfig, text);
      const lapse = new LapseProcess(['run', ...flags, '--kubeconfig', kubeconfig], { REQUEST_TTL: '1s' });
      running.push(lapse);
      return lapse;
    },
    endProcesses,
    async close() {
      await endProcesses();
      await simulatedControllers.stop();
      await Promise.all(connection.splice(0).map((wire) => wire.close?.()));
    },
  };
}
