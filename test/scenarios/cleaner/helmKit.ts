// For scenarios about Helm releases: records, objects, and what was deleted.

import type { KubeObject } from '@lapse/kube/api/object';
import { type ReleaseFixture, storedRelease } from 'lapse/helm/release.testkit';
import type { Scene } from '../scene.ts';
import { cleaner } from './kit.ts';

export const record = (revision: number): string => `secret/sh.helm.release.v1.shop.v${revision}`;
export const uninstalls = (more = {}) =>
  cleaner({ ttl: '1m', helm: { release: 'shop', delete: true }, ...more });
export const deleted = ({ then }: Scene): string[] =>
  then
    .requests('DELETE')
    .filter(({ status }) => status === 200)
    .map(({ resource, name }) => `${resource}/${name}`);
export const eventsOf = async ({ then }: Scene) => then.events('cleaner/c');
export const release = (...given: ReleaseFixture[]) => given.map((one) => storedRelease(one));
export const keep = '  annotations:\n    helm.sh/resource-policy: keep\n';

export const object = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'default' },
  ...more,
});
export const volume = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
});
export const pod = (name: string) =>
  object('Pod', name, { spec: { containers: [{ name: 'c', image: 'i' }] } });
export const service = (name: string) => object('Service', name, { spec: { ports: [{ port: 80 }] } });
