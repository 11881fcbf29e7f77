// Which kind a reference means: as people write kinds (`service`, `Revision`, `pods`), but always in the group they
// name. And which kinds no Cleaner may touch, whoever wrote it.

import type { ServedKind } from '@lapse/kube/client/discovery';
import type { TargetReference } from '#api/cleaner';

export type FoundKind =
  | { readonly kind: 'found'; readonly served: ServedKind }
  | { readonly kind: 'notServed' }
  /** Will not become right by waiting. */
  | { readonly kind: 'refused'; readonly why: string };

/** What decides who may do what, and what ends things: a Cleaner that deletes these would be a way around them. */
const DENIED_GROUPS = new Set([
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'cleaner.vtex.dev',
  'lapse.dev',
]);

export const isDenied = (group: string): boolean => DENIED_GROUPS.has(group);

type Test = (served: ServedKind, word: string) => boolean;

/** From exact to lenient; a later one counts only when no earlier one fits. */
const WAYS: readonly Test[] = [
  ({ kind }, word) => kind === word,
  ({ kind }, word) => kind.toLowerCase() === word.toLowerCase(),
  ({ resource }, word) => resource === word.toLowerCase(),
  ({ singular }, word) => singular === word.toLowerCase(),
];

/** `all` is what discovery says, preferred versions first. */
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
