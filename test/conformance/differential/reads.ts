// Selectors, pages, versions and representations for reads.

import type { Picker } from '../apply/histories.ts';
import type { Memory, Subject } from './types.ts';

const LABELS = [
  'tier=gold',
  'tier',
  '!tier',
  'tier in (gold,silver)',
  'tier notin (gold)',
  'tier!=gold',
  'a b',
  'tier in ()',
  'x/y/z=1',
  'tier=-',
];
const MINE = 'run={ns}';

/** Lists without a namespace see objects of other sequences unless they select their own label. */
export function listQuery(subject: Subject, pick: Picker, memory: Memory): string {
  const query: string[] = [];
  const labels = pick.chance(0.5) ? [pick.one(LABELS)] : [];
  if (subject.cluster) labels.unshift(MINE);
  if (labels.length > 0)
    query.push(`labelSelector=${encodeURIComponent(labels.join(',')).replace('%7Bns%7D', '{ns}')}`);
  if (pick.chance(0.3))
    query.push(
      `fieldSelector=${encodeURIComponent(fieldSelector(subject, pick)).replace('%7Bns%7D', '{ns}')}`,
    );
  // Without a namespace, whether there is another page depends on other sequences.
  if (!subject.cluster && pick.chance(0.4))
    query.push(`limit=${pick.one(['1', '2', '500', '0', '-1', 'x'])}`);
  if (pick.chance(0.2) && memory.continueToken !== undefined) query.push(`continue=${memory.continueToken}`);
  if (pick.chance(0.03)) query.push('continue=bogus');
  if (pick.chance(0.1)) query.push(`resourceVersion=${pick.one([newest(memory), 'x', '-1'])}`);
  if (pick.chance(0.05)) query.push(`resourceVersionMatch=${pick.one(['Exact', 'NotOlderThan', 'Odd'])}`);
  if (pick.chance(0.03)) query.push('timeoutSeconds=x');
  return query.join('&');
}

/** The newest version that was seen: at version 0 the real server may answer with an older state. */
function newest({ versions }: Memory): string {
  const all = [...versions.values()].flat().map(Number).filter(Number.isFinite);
  return all.length === 0 ? '' : String(Math.max(...all));
}

function fieldSelector(subject: Subject, pick: Picker): string {
  const field = pick.one([...subject.selectable, 'metadata.name', 'metadata.namespace', 'spec.unknown', '']);
  const value = pick.one(['a', subject.cluster ? '{ns}-a' : 'b', '', 'x']);
  return pick.chance(0.05)
    ? pick.one(['a', 'a=b=c', 'metadata.name in (a)', ',,'])
    : `${field}${pick.one(['=', '==', '!='])}${value}`;
}

const AS = 'g=meta.k8s.io;v=v1';

export function accept(pick: Picker): Readonly<Record<string, string>> {
  const roll = pick.int(20);
  if (roll === 1) return { accept: `application/json;as=Table;${AS},application/json` };
  if (roll === 2) return { accept: `application/json;as=PartialObjectMetadataList;${AS},application/json` };
  if (roll === 3) return { accept: `application/json;as=PartialObjectMetadata;${AS},application/json` };
  if (roll === 4)
    return { accept: pick.one(['application/odd', '*/*', 'application/odd, application/json', 'text/html']) };
  return {};
}
