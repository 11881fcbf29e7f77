// Messages about the result of an uninstall, for Events and conditions.

import type { ReleaseKey } from './ownership.ts';
import type { Uninstalled } from './uninstall.ts';

/** Longest list of objects in a message. Status and Events hold about 1,000 characters. */
const LONGEST_LIST = 600;

function describeList(items: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const item of items) {
    length += item.length + 2;
    if (length > LONGEST_LIST) break;
    shown.push(item);
  }
  const more = items.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

export function describeIncomplete(
  { name, namespace }: ReleaseKey,
  { left, unmarked }: Extract<Uninstalled, { kind: 'incomplete' }>,
): string {
  const record = unmarked === undefined ? '' : `; the release record is unchanged: ${unmarked}`;
  const ways = `grant the right to delete them, run "helm uninstall ${name} -n ${namespace}", or set cleaner.helm.purgeIncomplete: true`;
  return `release ${name} is not uninstalled completely, left: ${describeList(left)}; ${ways}${record}`;
}

export function describeDone(
  { name }: ReleaseKey,
  { gone, kept, left }: Extract<Uninstalled, { kind: 'done' }>,
): string {
  const count = gone === undefined ? '' : `, ${gone} ${gone === 1 ? 'object is' : 'objects are'} gone`;
  const stays = [...left, ...kept.map((object) => `${object} (keep)`)];
  return `the release ${name} was uninstalled${count}${stays.length === 0 ? '' : `; left in place: ${describeList(stays)}`}`;
}
