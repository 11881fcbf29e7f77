// Maintains the Service `default/kubernetes`, by which Pods find the API server, with its Endpoints and EndpointSlice.

import { formatTime } from '@lapse/base/instant';
import { uuid } from '@lapse/base/random';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Core } from './context.ts';
import { RevisionMismatch } from './store/store.ts';
import { SERVER_ADDRESS } from './strategies/network/allocation.ts';

/** Where clients reach the server. */
export interface Advertised {
  readonly address: string;
  readonly port: number;
}

const KEY = 'default/kubernetes';

export class KubernetesService {
  readonly #core: Pick<Core, 'store' | 'clock' | 'random'>;
  readonly #wanted: ReadonlyMap<string, KubeObject>;
  #stopListening: () => void = () => {};
  #restoring: Promise<void> = Promise.resolve();

  constructor(core: Pick<Core, 'store' | 'clock' | 'random'>, advertised: Advertised) {
    this.#core = core;
    this.#wanted = new Map([
      ['services', serviceFor(advertised)],
      ['endpoints', endpointsFor(advertised)],
      ['endpointslices.discovery.k8s.io', sliceFor(advertised)],
    ]);
  }

  /** Resolves when all three objects exist. They are restored when a client deletes or changes them. */
  async start(): Promise<void> {
    for (const resource of this.#wanted.keys()) await this.#restore(resource);
    this.#stopListening = this.#core.store.listen(({ resource, key }) => {
      if (key !== KEY || !this.#wanted.has(resource)) return;
      // Every client that writes sees an error of the store; the next change tries again.
      this.#restoring = this.#restoring.then(() => this.#restore(resource)).catch(() => {});
    });
  }

  async stop(): Promise<void> {
    this.#stopListening();
    await this.#restoring;
  }

  async #restore(resource: string): Promise<void> {
    const { store } = this.#core;
    const head = store.getHead(resource, KEY);
    const next = this.#reconciled(this.#wanted.get(resource)!, head?.object);
    if (next === undefined) return;
    try {
      await store.put(resource, KEY, head?.revision ?? 0, next);
    } catch (cause) {
      // Another write came first; it triggers another restore.
      if (!(cause instanceof RevisionMismatch)) throw cause;
    }
  }

  /** The object to write; undefined when it is as wanted. Labels and annotations that clients added are kept. */
  #reconciled(wanted: KubeObject, existing: KubeObject | undefined): KubeObject | undefined {
    const { clock, random } = this.#core;
    if (existing === undefined) {
      const metadata = {
        ...wanted.metadata,
        uid: uuid(random),
        creationTimestamp: formatTime(clock.now()),
      };
      return { ...wanted, metadata };
    }
    const { metadata, ...content } = wanted;
    const labels = { ...existing.metadata.labels, ...metadata.labels };
    const next = { ...existing, ...content, metadata: { ...existing.metadata, labels } };
    if (equal(asJson(next), asJson(existing))) return undefined;
    if (next.metadata.generation !== undefined) next.metadata.generation++;
    return next;
  }
}

const metadataOf = (labels: Record<string, string>): KubeObject['metadata'] => ({
  name: 'kubernetes',
  namespace: 'default',
  labels,
});

const portOf = (port: number): JsonObject => ({ name: 'https', port, protocol: 'TCP' });

const serviceFor = ({ port }: Advertised): KubeObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: metadataOf({ component: 'apiserver', provider: 'kubernetes' }),
  spec: {
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
    clusterIP: SERVER_ADDRESS,
    clusterIPs: [SERVER_ADDRESS],
    type: 'ClusterIP',
    sessionAffinity: 'None',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
  },
  status: { loadBalancer: {} },
});

const endpointsFor = ({ address, port }: Advertised): KubeObject => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: metadataOf({ 'endpointslice.kubernetes.io/skip-mirror': 'true' }),
  subsets: [{ addresses: [{ ip: address }], ports: [portOf(port)] }],
});

const sliceFor = ({ address, port }: Advertised): KubeObject => ({
  kind: 'EndpointSlice',
  apiVersion: 'discovery.k8s.io/v1',
  metadata: { ...metadataOf({ 'kubernetes.io/service-name': 'kubernetes' }), generation: 1 },
  addressType: address.includes(':') ? 'IPv6' : 'IPv4',
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
  ports: [portOf(port)],
});
