// Test kit of this folder for a real kube-apiserver: one control plane per file, and clients for it.

import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { afterAll, beforeAll } from 'vitest';
import { defineKind } from '#api/kind';
import type { KubeObject } from '#api/object';
import { type Bed, startBed } from '../../../../test/kube/bed/bed.ts';
import { type Client, createClient, objectOf } from './client.ts';
import { connect } from './connect.ts';
import { loadConnection } from './kubeconfig.ts';
import type { Selection } from './kubeconfigContext.ts';
import { createSkew, type Skew } from './skew.ts';
import type { UndiciTransport } from './undici.ts';

export const ConfigMap = defineKind({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
});
export const Namespace = defineKind({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
});
export const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true });
export const Webhooks = defineKind({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  resource: 'validatingwebhookconfigurations',
  namespaced: false,
});
export const WhoAmI = defineKind({
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  resource: 'selfsubjectreviews',
  namespaced: false,
});

export interface RealCluster {
  readonly bed: Bed;
  /** A client with admin rights. */
  readonly client: Client;
  readonly skew: Skew;
  clientOf(selection: Selection): Promise<Client>;
}

/** A control plane for the tests of a file. The fields are set when the first test runs. */
export function realCluster(): RealCluster {
  const state = { skew: createSkew(realClock) } as { bed: Bed; client: Client; skew: Skew };
  const open: UndiciTransport[] = [];
  const clientOf = async (selection: Selection = {}): Promise<Client> => {
    const connection = await loadConnection({
      kubeconfig: state.bed.kubeconfig,
      environment: {},
      ...selection,
    });
    const { transport, credentials } = await connect(connection, { clock: realClock, environment: {} });
    open.push(transport);
    const { observe } = state.skew;
    return createClient({ transport, credentials, clock: realClock, random: systemRandom, observe });
  };
  beforeAll(async () => {
    state.bed = await startBed();
    state.client = await clientOf();
  });
  afterAll(async () => {
    await Promise.all(open.map((transport) => transport.close()));
    await state.bed?.stop();
  });
  return Object.assign(state, { clientOf });
}

let count = 0;
export const configMap = (more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `c${count++}`, namespace: 'default', ...more },
  data: { k: 'v' },
});
/** A new object that was changed, and its resourceVersion before the change. */
export async function changed(client: Client) {
  const object = objectOf(await client.create(ConfigMap, configMap()));
  const key = { namespace: 'default', name: object.metadata.name! };
  await client.patch(ConfigMap, key, { type: 'merge', patch: { data: { k: 'w' } } });
  return { key, uid: object.metadata.uid!, old: object.metadata.resourceVersion! };
}
