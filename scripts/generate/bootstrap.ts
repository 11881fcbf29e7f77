// The objects that kube-apiserver creates when it starts on an empty store, without those that depend on its
// configuration: the objects of its own Service, APIServices, its Lease and the ConfigMap of the front proxy.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Bed } from '../../test/kube/bed/bed.ts';
import type { ServedResource } from './resources.ts';

interface Condition {
  lastTransitionTime?: string;
}

interface BootstrapObject {
  apiVersion: string;
  kind: string;
  metadata: Record<string, unknown>;
  status?: { conditions?: Condition[] };
}

/** `resource.group` (`clusterroles.rbac.authorization.k8s.io`) → its objects. */
export type Bootstrap = Record<string, BootstrapObject[]>;

const CONFIGURED = new Set(
  'apiservices componentstatuses configmaps endpoints endpointslices ipaddresses leases services'.split(' '),
);
/** kube-apiserver sets their conditions shortly after it is ready. */
const LATE = new Set(['flowschemas', 'servicecidrs']);
const ASSIGNED = ['creationTimestamp', 'managedFields', 'resourceVersion', 'uid'];
const POLL_MS = 200;

export async function generateBootstrap(bed: Bed, resources: ServedResource[]): Promise<Bootstrap> {
  const found: Bootstrap = {};
  for (const served of resources) {
    const { group, version, resource, kind, verbs } = served;
    if (!verbs.includes('list') || CONFIGURED.has(resource)) continue;
    const apiVersion = group ? `${group}/${version}` : version;
    const items = await settled(
      bed,
      `/${group ? 'apis' : 'api'}/${apiVersion}/${resource}`,
      LATE.has(resource),
    );
    const objects = items.map((item) => withoutAssigned({ ...item, apiVersion, kind }));
    if (objects.length > 0) found[group ? `${resource}.${group}` : resource] = objects;
  }
  return found;
}

async function settled(bed: Bed, path: string, isLate: boolean): Promise<BootstrapObject[]> {
  for (;;) {
    const { items } = (await bed.getJson(path)) as { items: BootstrapObject[] };
    if (!isLate || items.every(({ status }) => status?.conditions)) return items;
    await sleep(POLL_MS);
  }
}

/** Without what differs from start to start. */
function withoutAssigned({ apiVersion, kind, metadata, ...rest }: BootstrapObject): BootstrapObject {
  const kept = Object.entries(metadata).filter(([field]) => !ASSIGNED.includes(field));
  for (const condition of rest.status?.conditions ?? []) delete condition.lastTransitionTime;
  return { kind, apiVersion, metadata: Object.fromEntries(kept), ...rest };
}
