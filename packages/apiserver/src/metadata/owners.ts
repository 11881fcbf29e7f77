// Removes duplicate metadata.ownerReferences and warns the client.

import type { KubeObject, OwnerReference } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';

interface Owners {
  readonly kept: readonly OwnerReference[];
  /** The uids of the removed references. */
  readonly uids: readonly string[];
}

/** References with the same uid and any other difference are not duplicates. */
function distinctOwners(references: readonly OwnerReference[]): Owners {
  const seen = new Set<string>();
  const kept: OwnerReference[] = [];
  const uids: string[] = [];
  for (const reference of references) {
    const { apiVersion = '', kind = '', name = '', uid = '', controller, blockOwnerDeletion } = reference;
    const all = JSON.stringify([apiVersion, kind, name, uid, String(controller), String(blockOwnerDeletion)]);
    if (seen.has(all)) uids.push(uid);
    else kept.push(reference);
    seen.add(all);
  }
  return { kept, uids };
}

/** `when`: as sent, or after mutating admission, which includes the result of a patch. */
export function dropRepeatedOwners(
  { warnings }: Call,
  { metadata }: KubeObject,
  when: 'sent' | 'admitted',
): void {
  const { ownerReferences } = metadata;
  if (ownerReferences === undefined || ownerReferences.length < 2) return;
  const { kept, uids } = distinctOwners(ownerReferences);
  if (uids.length === 0) return;
  metadata.ownerReferences = [...kept];
  const text = `.metadata.ownerReferences contains duplicate entries${when === 'sent' ? '' : ' after mutating admission happens'}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(', ')}`;
  if (!warnings.includes(text)) warnings.push(text);
}
