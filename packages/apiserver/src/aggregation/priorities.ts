// The order of groups and versions in discovery: each group version has two priorities, which are fixed for the
// groups of this server.

import { compareApiVersions, type GroupInfo, type Registry } from '../resources/registry.ts';
import { type Ranked, REGISTRATION_GROUP } from './registration.ts';

/** Order of groups in discovery, highest first, and of the versions in a group. */
const PRIORITIES: Readonly<Record<string, readonly [group: number, version: number]>> = {
  '': [18000, 1],
  [REGISTRATION_GROUP]: [20001, 0],
  apps: [17800, 15],
  'events.k8s.io': [17750, 15],
  'authentication.k8s.io': [17700, 15],
  'authorization.k8s.io': [17600, 15],
  batch: [17400, 15],
  'networking.k8s.io': [17200, 15],
  policy: [17100, 15],
  'rbac.authorization.k8s.io': [17000, 15],
  'storage.k8s.io': [16800, 15],
  'admissionregistration.k8s.io': [16700, 15],
  'apiextensions.k8s.io': [16700, 15],
  'coordination.k8s.io': [16500, 15],
  'discovery.k8s.io': [16200, 15],
};
const CUSTOM_PRIORITY = [1000, 100] as const;

/** The priorities of a group that this server serves, and of each version in it. */
export const localPriority = (group: string): readonly [group: number, version: number] =>
  (Object.hasOwn(PRIORITIES, group) ? PRIORITIES[group] : undefined) ?? CUSTOM_PRIORITY;

const localVersions = (registry: Registry): Ranked[] =>
  registry.groups().flatMap(({ group, versions }) => {
    const [groupPriority, versionPriority] = localPriority(group);
    return versions.map((version) => {
      const name = `${version}.${group}`;
      return { name, group, version, groupPriority, versionPriority };
    });
  });

const byGroup = (a: Ranked, b: Ranked): number =>
  b.groupPriority - a.groupPriority || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
const byVersion = (a: Ranked, b: Ranked): number =>
  b.versionPriority - a.versionPriority || compareApiVersions(a.version, b.version);

/** All groups except the core one, each at the position of its highest version. */
export function orderedGroups(registry: Registry, remote: readonly Ranked[]): GroupInfo[] {
  const taken = new Set(remote.map(({ name }) => name));
  const all = [...localVersions(registry).filter(({ name }) => !taken.has(name)), ...remote].sort(byGroup);
  const groups = new Map<string, Ranked[]>();
  for (const one of all) {
    if (one.group === '') continue;
    const known = groups.get(one.group);
    if (known) known.push(one);
    else groups.set(one.group, [one]);
  }
  return [...groups].map(([group, members]) => ({
    group,
    versions: members.sort(byVersion).map(({ version }) => version),
  }));
}
