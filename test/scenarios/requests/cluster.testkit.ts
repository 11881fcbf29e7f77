// The request families on a real control plane: each controller is a separate user with exactly the rights it declares.
// An administrator acts as the storage system.

import { readFileSync } from 'node:fs';
import { realClock } from '@lapse/base/clock';
import { seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import { defineKind } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { bearer, fixedCredentials, impersonating } from '@lapse/kube/client/credentials';
import { createSkew } from '@lapse/kube/client/skew';
import { undiciTransport } from '@lapse/kube/client/undici';
import { type ControllerDefinition, rightsOf } from '@lapse/runtime/definition';
import { SOCKET_LIVENESS } from '@lapse/runtime/liveness';
import { Manager } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { createUserClient, type UserClient } from '@lapse/simulation/userClient';
import { vi } from 'vitest';
import { type Bed, startBed } from '../../kube/bed/bed.ts';
import { composeFamilies, findFamily } from '../compose.ts';
import { storageControllers } from './deckhouseProvisioner.ts';

const VOLUMES = ['volume-capture', 'volume-restore', 'object-keeper', 'request-ttl'];

const rbac = (kind: string, resource: string) =>
  defineKind({ group: 'rbac.authorization.k8s.io', version: 'v1', kind, resource, namespaced: false });
const ClusterRole = rbac('ClusterRole', 'clusterroles');
const ClusterRoleBinding = rbac('ClusterRoleBinding', 'clusterrolebindings');

export const userOf = (controller: string): string => `lapse:${controller}`;

export interface Cluster {
  readonly bed: Bed;
  readonly admin: Client;
  readonly userClient: UserClient;
  /** A client with the rights of one controller. */
  clientOf(controller: string): Client;
  readonly controllers: readonly ControllerDefinition[];
  stop(): Promise<void>;
}

/** Polls until the condition is true. */
export const eventually = <T>(look: () => Promise<T>, limit: number = seconds(60)): Promise<T> =>
  vi.waitFor(look, { timeout: limit, interval: 100 });

async function grant(admin: Client, definition: ControllerDefinition): Promise<void> {
  const name = userOf(definition.name);
  const rules = rightsOf(definition).map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  }));
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules };
  objectOf(await admin.create(ClusterRole, role as KubeObject));
  objectOf(
    await admin.create(ClusterRoleBinding, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    } as KubeObject),
  );
}

export async function applyKinds(admin: Client, crds: readonly KubeObject[]): Promise<void> {
  for (const crd of crds)
    objectOf(await admin.create(CustomResourceDefinition, crd as CustomResourceDefinition));
  for (const { metadata } of crds)
    await eventually(async () => {
      const found = await admin.get(CustomResourceDefinition, { name: metadata.name! });
      if (!found?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True'))
        throw new Error(`${metadata.name} is not established`);
    });
  admin.discovery.invalidate();
}

export interface ClusterOptions {
  /** Families; default: those of volumes. */
  readonly families?: readonly string[];
  /** Controllers of kube-controller-manager, in addition to garbage collection and protection. */
  readonly kubeControllers?: readonly string[];
  /** The simulated storage controllers; default: csi-snapshotter and the provisioner of Deckhouse. */
  readonly storage?: readonly ControllerDefinition[];
}

export async function startCluster(
  configuration: JsonObject,
  kinds: readonly KubeObject[],
  {
    families: names = VOLUMES,
    kubeControllers = [],
    storage = storageControllers(['csi-snapshotter', 'deckhouse-provisioner']),
  }: ClusterOptions = {},
): Promise<Cluster> {
  const families = names.map(findFamily);
  const bed = await startBed({
    controllers: [
      'garbage-collector-controller',
      'namespace-controller',
      'persistentvolumeclaim-protection-controller',
      'persistentvolume-protection-controller',
      ...kubeControllers,
    ],
    // Refuses owner references with blockOwnerDeletion to clients that may not update finalizers of the owner.
    extraApiserverArgs: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
  });
  const transport = undiciTransport({
    server: bed.url,
    clock: realClock,
    tls: { ca: readFileSync(bed.caFile, 'utf8') },
  });
  const credentials = fixedCredentials({ headers: bearer(bed.adminToken) });
  const skew = createSkew(realClock);
  const common = { transport, clock: realClock, random: systemRandom, observe: skew.observe };
  const admin = createClient({ ...common, credentials });
  const clientOf = (controller: string): Client =>
    createClient({
      ...common,
      credentials: impersonating(credentials, { user: userOf(controller), groups: ['system:authenticated'] }),
    });
  const custom = [...new Set([...families.flatMap((family) => family.kinds), ...STOCK_SNAPSHOT_KINDS])];
  await applyKinds(admin, [...custom.map(({ crd }) => crd), ...kinds]);
  const { controllers, time } = composeFamilies({ families, controllers: [], configuration, gates: {} })({
    clock: realClock,
    random: systemRandom,
    client: admin,
    registry: new Registry(),
    log: silentLog,
    skew,
    clientAs: () => admin,
  });
  for (const definition of controllers) await grant(admin, definition);
  const shared = {
    clock: realClock,
    random: systemRandom,
    liveness: SOCKET_LIVENESS,
    drain: seconds(2),
    ...(time === undefined ? {} : { time }),
  };
  const managers = controllers.map(
    (definition) => new Manager({ ...shared, client: clientOf(definition.name), controllers: [definition] }),
  );
  managers.push(
    new Manager({
      ...shared,
      client: admin,
      controllers: storage,
    }),
  );
  for (const manager of managers) manager.start();
  await eventually(async () => {
    const waiting = managers
      .filter(({ phase }) => phase !== 'leading')
      .flatMap((manager) => manager.readiness().problems);
    if (waiting.length > 0) throw new Error(waiting.join('; '));
    const problems = managers.flatMap((manager) => manager.readiness().problems);
    if (problems.length > 0) throw new Error(problems.join('; '));
  });
  return {
    bed,
    admin,
    userClient: createUserClient(admin),
    clientOf,
    controllers,
    async stop() {
      await Promise.all(managers.map((manager) => manager.stop()));
      await transport.close();
      await bed.stop();
    },
  };
}
