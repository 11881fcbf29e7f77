// Legacy discovery: one document per level, from the list of groups to the resources of a version.

import { apiVersionOf } from '@lapse/kube/api/object';
import type { GroupInfo } from '../resources/registry.ts';
import type { Resource } from '../resources/resource.ts';

export const coreVersions = (serverAddress: string): object => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
});

export const groupList = (groups: readonly GroupInfo[]): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.map(groupJson),
});

export const oneGroup = (group: GroupInfo): object => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupJson(group),
});

function groupJson({ group, versions }: GroupInfo) {
  const list = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: list, preferredVersion: list[0] };
}

export const resourceList = (group: string, version: string, resources: readonly Resource[]): object => ({
  kind: 'APIResourceList',
  // Discovery of the core group has no apiVersion, since it predates that rule.
  ...(group === '' ? {} : { apiVersion: 'v1' }),
  groupVersion: apiVersionOf({ group, version }),
  resources: resources.flatMap(resourceJson),
});

function resourceJson(r: Resource): object[] {
  const main = {
    name: r.plural,
    singularName: r.singular,
    namespaced: r.namespaced,
    kind: r.kind,
    verbs: r.verbs,
    ...(r.shortNames.length > 0 ? { shortNames: r.shortNames } : {}),
    ...(r.categories.length > 0 ? { categories: r.categories } : {}),
    ...(r.storageVersionHash ? { storageVersionHash: r.storageVersionHash } : {}),
  };
  const subs = r.subresources.map((s) => ({
    name: `${r.plural}/${s.name}`,
    singularName: '',
    namespaced: r.namespaced,
    ...(s.group !== undefined ? { group: s.group, version: s.version } : {}),
    kind: s.kind,
    verbs: s.verbs,
  }));
  return [main, ...subs];
}
