// Resolves a reference to a kind. Kinds can be written in any common form (`service`, `Revision`, `pods`), always
// within the given group.

import type { Discovery, ServedKind } from '@lapse/kube/client/discovery';
import type { TargetReference } from '#api/cleaner';
import { isDenied } from '#authors/deniedGroups';
import { isDecisive, type Target } from './spec.ts';

export type FoundKind =
  | { readonly kind: 'found'; readonly served: ServedKind }
  | { readonly kind: 'notServed' }
  /** Permanent: waiting does not help. */
  | { readonly kind: 'refused'; readonly why: string };

type Test = (served: ServedKind, word: string) => boolean;

/** From exact to lenient. A later test counts only if no earlier one matches. */
const WAYS: readonly Test[] = [
  ({ kind }, word) => kind === word,
  ({ kind }, word) => kind.toLowerCase() === word.toLowerCase(),
  ({ resource }, word) => resource === word.toLowerCase(),
  ({ singular }, word) => singular === word.toLowerCase(),
];

/** `all` is the result of discovery, preferred versions first. */
export function findKind(all: readonly ServedKind[], reference: TargetReference): FoundKind {
  const { apiGroup: group = '', version, kind: word } = reference;
  if (isDenied(group)) return refused(`kinds of ${group} may not be targets`);
  const inGroup = all.filter((served) => served.group === group && (!version || served.version === version));
  for (const fits of WAYS) {
    const found = inGroup.filter((served) => fits(served, word));
    const [first] = found;
    if (first === undefined) continue;
    if (new Set(found.map(({ resource }) => resource)).size > 1)
      return refused(`"${word}" could be ${[...new Set(found.map((f) => f.kind))].sort().join(' or ')}`);
    return usable(first);
  }
  return { kind: 'notServed' };
}

const refused = (why: string): FoundKind => ({ kind: 'refused', why });

function usable(served: ServedKind): FoundKind {
  if (!served.namespaced) return refused(`${served.kind} is not a namespaced kind`);
  if (!served.verbs.includes('get') || !served.verbs.includes('list'))
    return refused(`${served.kind} cannot be read`);
  return { kind: 'found', served };
}

/** `sfj-00001.revisions.serving.knative.dev/v1`. */
export function describeTarget(
  kind: { group: string; version: string; resource: string },
  name: string,
): string {
  const { group, version, resource } = kind;
  return `${name}.${resource}${group === '' ? '' : `.${group}`}/${version}`;
}

/** A target and the kind it resolves to. */
export interface Resolved {
  readonly target: Target;
  readonly kind: ServedKind;
}

export interface Kinds {
  readonly resolved: readonly Resolved[];
  readonly unserved: readonly Target[];
  /** Targets with a permanent error. */
  readonly refused: readonly { readonly target: Target; readonly why: string }[];
}

/** Resolves the kind of each target. */
export function sortKinds(all: readonly ServedKind[], targets: readonly Target[]): Kinds {
  const resolved: Resolved[] = [];
  const unserved: Target[] = [];
  const refused: { target: Target; why: string }[] = [];
  for (const target of targets) {
    const found = findKind(all, target.reference);
    if (found.kind === 'found') resolved.push({ target, kind: found.served });
    else if (found.kind === 'notServed') unserved.push(target);
    else refused.push({ target, why: found.why });
  }
  return { resolved, unserved, refused };
}

/** Refreshes discovery once for unknown kinds, as often as discovery permits. */
export async function resolveKinds(discovery: Discovery, targets: readonly Target[]): Promise<Kinds> {
  const known = sortKinds(await discovery.all(), targets);
  const first = known.unserved.find(isDecisive);
  if (first === undefined) return known;
  await discovery.find({ group: first.reference.apiGroup ?? '', kind: first.reference.kind });
  return sortKinds(await discovery.all(), targets);
}
