// The resources of the embedded server, from the real server's discovery documents: legacy discovery for names, verbs
// and hashes, /apis for the order of groups and versions. Limited to the kinds of the type table, and to subresources
// that make sense without kubelets.

import type { BuiltinTable } from '@lapse/apiserver/schema/builtinTable';
import type { Bed } from '../../test/kube/bed/bed.ts';
import { definedOnly } from './json.ts';

interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
}

export interface ServedSubresource {
  name: string;
  kind: string;
  /** Resources whose body has a kind of another group. */
  group?: string;
  version?: string;
  verbs: string[];
}

export interface ServedResource {
  group: string;
  version: string;
  resource: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  shortNames: string[];
  categories: string[];
  verbs: string[];
  storageVersionHash?: string;
  subresources: ServedSubresource[];
}

export interface ServedResources {
  /** The fields of /version that do not depend on the machine it was built on. */
  version: Record<string, string>;
  /** In the order of /apis, without the core group. */
  groups: { name: string; versions: string[] }[];
  /** groupPriorityMinimum and versionPriority of the APIServices of these versions. */
  priorities: Record<string, [group: number, version: number]>;
  resources: ServedResource[];
}

const WITHOUT_KUBELET = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);
const REVIEW_GROUPS = new Set(['authentication.k8s.io', 'authorization.k8s.io']);
const VERSION_FIELDS = [
  'major',
  'minor',
  'emulationMajor',
  'emulationMinor',
  'minCompatibilityMajor',
  'minCompatibilityMinor',
  'gitVersion',
];

export async function generateResources(bed: Bed, table: BuiltinTable): Promise<ServedResources> {
  const { groups } = (await bed.getJson('/apis')) as {
    groups: { name: string; versions: { version: string }[] }[];
  };
  const resources = await readVersion(bed, '', 'v1', table);
  const served: ServedResources['groups'] = [];
  for (const { name, versions } of groups) {
    const kept: string[] = [];
    for (const { version } of versions) {
      const ofVersion = await readVersion(bed, name, version, table);
      if (ofVersion.length > 0) kept.push(version);
      resources.push(...ofVersion);
    }
    if (kept.length > 0) served.push({ name, versions: kept });
  }
  const version = (await bed.getJson('/version')) as Record<string, string>;
  return {
    version: Object.fromEntries(VERSION_FIELDS.map((field) => [field, version[field]!])),
    groups: served,
    priorities: await readPriorities(bed, served),
    resources,
  };
}

async function readPriorities(
  bed: Bed,
  served: ServedResources['groups'],
): Promise<ServedResources['priorities']> {
  const { items } = (await bed.getJson('/apis/apiregistration.k8s.io/v1/apiservices')) as {
    items: { metadata: { name: string }; spec: { groupPriorityMinimum: number; versionPriority: number } }[];
  };
  const names = ['v1.', ...served.flatMap(({ name, versions }) => versions.map((v) => `${v}.${name}`))];
  return Object.fromEntries(
    items
      .filter(({ metadata }) => names.includes(metadata.name))
      .map(({ metadata, spec }) => [metadata.name, [spec.groupPriorityMinimum, spec.versionPriority]]),
  );
}

async function readVersion(
  bed: Bed,
  group: string,
  version: string,
  table: BuiltinTable,
): Promise<ServedResource[]> {
  const path = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const list = (await bed.getJson(path)) as { resources: ApiResource[] };
  return list.resources
    .filter((resource) => !resource.name.includes('/') && isServed({ group, version, table }, resource.kind))
    .map((resource) => describe({ group, version }, resource, list.resources));
}

interface Versioned {
  group: string;
  version: string;
}

function isServed({ group, version, table }: Versioned & { table: BuiltinTable }, kind: string): boolean {
  const key = `${group ? `${group}/` : ''}${version}/${kind}`;
  return key in table.kinds && (`${key}List` in table.kinds || REVIEW_GROUPS.has(group));
}

function describe(gv: Versioned, resource: ApiResource, all: ApiResource[]): ServedResource {
  const prefix = `${resource.name}/`;
  const subresources = all
    .filter(({ name }) => name.startsWith(prefix) && !WITHOUT_KUBELET.has(name.slice(prefix.length)))
    .map((sub) => describeSub(sub, sub.name.slice(prefix.length)));
  return definedOnly<ServedResource>({
    ...gv,
    resource: resource.name,
    singular: resource.singularName,
    kind: resource.kind,
    namespaced: resource.namespaced,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    verbs: resource.verbs,
    storageVersionHash: resource.storageVersionHash,
    subresources,
  });
}

function describeSub(sub: ApiResource, name: string): ServedSubresource {
  return definedOnly<ServedSubresource>({
    name,
    kind: sub.kind,
    group: sub.group,
    version: sub.version,
    verbs: sub.verbs,
  });
}
