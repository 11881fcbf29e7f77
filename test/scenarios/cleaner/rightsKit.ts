// For scenarios about rights: users, a Cleaner that deletes one object, and its status.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Cleaner } from 'lapse/api/cleaner';
import { cleaner, target } from './kit.ts';
import type { RbacCluster } from './rbac.ts';

/** The embedded server knows only one user. */
export const AUTHOR = 'admin';
export const ROBOT = 'system:serviceaccount:default:robot';
export const ALL = (resource: string) =>
  ['get', 'list', 'watch', 'delete'].map((verb) => `${verb} ${resource}`);
export const reason = async ({ simulation }: RbacCluster): Promise<string | undefined> =>
  (await simulation.get<Cleaner>('cleaner/c'))?.status?.conditions?.[0]?.reason;
export const message = async ({ simulation }: RbacCluster): Promise<string> =>
  (await simulation.get<Cleaner>('cleaner/c'))?.status?.conditions?.[0]?.message ?? '';
export const deletes = (spec: Partial<Cleaner['spec']> = {}) =>
  cleaner({
    ttl: '1m',
    targets: [target('a', 'a', { delete: true, include: true })],
    conditions: ['true'],
    retry: { period: '10m' },
    ...spec,
  });
export const secret = (name: string, data: Record<string, string>, metadata = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default', ...metadata },
  data: Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Buffer.from(v).toString('base64')])),
});
