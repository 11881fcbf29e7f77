// The groups in the order of discovery: built-in ones by the priority the real server gives them, custom ones by name.

import { servedData } from '../data.ts';
import type { GroupInfo, Registry } from '../registry.ts';

export function orderedGroups(registry: Registry): GroupInfo[] {
  const order = new Map(servedData().groups.map(({ name }, index) => [name, index]));
  const rank = ({ group }: GroupInfo) => order.get(group) ?? Number.MAX_SAFE_INTEGER;
  return registry
    .groups()
    .filter(({ group }) => group !== '')
    .sort((a, b) => rank(a) - rank(b) || (a.group < b.group ? -1 : 1));
}
