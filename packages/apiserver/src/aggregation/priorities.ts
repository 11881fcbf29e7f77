// The order of groups and versions in discovery: each group version has two priorities. Those of built-in groups are
// recorded from kube-apiserver.

import { servedData } from '../data/tables.ts';
import { compareApiVersions, type GroupInfo, type Registry } from '../resources/registry.ts';
import { type Ranked, REGISTRATION_GROUP } from './registration.ts';

const REGISTRATION_PRIORITY = [20001, 0] as const;
const CUSTOM_PRIORITY = [1000, 100] as const;

/** The priorities of a group version that this server serves. */
export function localPriority(group: string, version: string): readonly [group: number, version: number] {
  // The registration group itself has no APIService.
  if (group === REGISTRATION_GROUP) return REGISTRATION_PRIORITY;
  return servedData().priorities[`${version}.${group}`] ?? CUSTOM_PRIORITY;
}

const localVersions = (registry: Registry): Ranked[] =>
  registry.groups().flatMap(({ group, versions }) => {
    return versions.map((version) => {
      const [groupPriority, versionPriority] = localPriority(group, version);
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
