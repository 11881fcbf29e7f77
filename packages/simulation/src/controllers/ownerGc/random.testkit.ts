// Random small graphs with typical mistakes: ownership cycles, several owners, missing owners.

import type { Random } from '@lapse/base/random';
import type { Graph } from './graphs.testkit.ts';

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;
const chance = (random: Random, share: number): boolean => random.next() < share;

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const KINDS = ['', '', '', '', '', 'secret:', 'widget:', 'widget:', 'gadget:'];

export function randomGraph(random: Random): Graph {
  const names = NAMES.slice(0, 2 + Math.floor(random.next() * 5));
  const objects = names.map((name) => {
    const kind = pick(random, KINDS);
    const place = kind !== 'gadget:' && chance(random, 0.06) ? 'other/' : '';
    const owners = [...new Set(randomOwners(random, names))];
    return `${place}${kind}${name}${owners.length > 0 ? `<${owners.join()}` : ''}${randomFinalizer(random)}`;
  });
  const manner = pick(random, ['', '', ':Foreground', ':Foreground', ':Foreground', ':Orphan']);
  return { objects, deletes: [`${pick(random, names)}${manner}`] };
}

function randomOwners(random: Random, names: readonly string[]): string[] {
  const owners: string[] = [];
  const taken = new Set<string>();
  while (owners.length < 3 && chance(random, 0.6)) {
    const name = chance(random, 0.06) ? 'ghost' : pick(random, names);
    if (taken.has(name)) continue;
    taken.add(name);
    const wrong = chance(random, 0.05) ? '~' : '';
    const as = chance(random, 0.04) ? pick(random, ['=z', '@Secret', '@Nonsense', '@v9']) : '';
    owners.push(wrong + name + as + (chance(random, 0.5) ? '!' : ''));
  }
  return owners;
}

function randomFinalizer(random: Random): string {
  if (chance(random, 0.8)) return '';
  return ` [${pick(random, ['x.dev/hold', 'x.dev/hold', 'x.dev/hold', 'orphan', 'foregroundDeletion'])}]`;
}
