// Copies a cluster into memory: everything that can be listed, one GET after another. What may not be read is
// reported and skipped. A cluster that is too large is refused before it fills the memory.

import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { UsageError } from '#manager/usage';

export interface Snapshot {
  readonly objects: readonly KubeObject[];
  /** What could not be read, and why. */
  readonly notes: readonly string[];
}

/** Numerous, short-lived or computed objects that no rule depends on. */
const LEFT_OUT = new Set([
  'events',
  'events.events.k8s.io',
  'leases.coordination.k8s.io',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'componentstatuses',
  'apiservices.apiregistration.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'csinodes.storage.k8s.io',
  'controllerrevisions.apps',
]);

const HELM_RELEASE = 'helm.sh/release.v1';
const PAGE = 500;

export interface SnapshotOptions {
  readonly client: Pick<Client, 'discovery' | 'pages'>;
  /** Maximum number of objects. */
  readonly limit: number;
  /** Called before each kind. */
  readonly onKind?: (name: string) => void;
}

const nameOf = ({ group, resource }: ServedKind): string =>
  group === '' ? resource : `${resource}.${group}`;

/** Every resource once, in its preferred version. */
async function readableKinds(client: SnapshotOptions['client']): Promise<ServedKind[]> {
  const kinds = new Map<string, ServedKind>();
  for (const kind of await client.discovery.all())
    if (kind.verbs.includes('list') && !LEFT_OUT.has(nameOf(kind)) && !kinds.has(nameOf(kind)))
      kinds.set(nameOf(kind), kind);
  return [...kinds.values()];
}

export async function takeSnapshot({ client, limit, onKind }: SnapshotOptions): Promise<Snapshot> {
  const objects: KubeObject[] = [];
  const notes: string[] = [];
  for (const kind of await readableKinds(client)) {
    onKind?.(nameOf(kind));
    const room = limit - objects.length;
    try {
      objects.push(...(await listAll(client, kind, room)));
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      notes.push(`${nameOf(kind)} could not be read: ${cause.reason}`);
    }
  }
  return { objects, notes };
}

async function listAll(
  client: SnapshotOptions['client'],
  kind: ServedKind,
  room: number,
): Promise<KubeObject[]> {
  const items: KubeObject[] = [];
  for await (const page of client.pages(kind, { limit: PAGE })) {
    if (page.kind === 'expired') throw page.error;
    for (const item of page.items)
      items.push(withoutSecrets({ ...item, apiVersion: apiVersionOf(kind), kind: kind.kind }));
    if (items.length > room)
      throw new UsageError(
        `the cluster has more objects than --limit allows (it was reached in ${nameOf(kind)}); raise --limit, or simulate files with the relevant objects`,
      );
  }
  return items;
}

/** Removes the data of Secrets, except of Helm releases, which Cleaners need. */
function withoutSecrets(object: KubeObject): KubeObject {
  if (object.kind !== 'Secret' || object.apiVersion !== 'v1' || object.type === HELM_RELEASE) return object;
  const { data: _, stringData: __, ...rest } = object;
  return rest as KubeObject;
}
