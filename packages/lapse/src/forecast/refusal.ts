// Deletions that the API server never carries out. Rules delete by uid and resourceVersion. A background deletion
// removes the finalizers of the garbage collector first. If no others are left, kube-apiserver then compares with a
// version that it has not stored, and answers with a conflict every time.

import type { DeletedStatement, ObjectName } from '#controllers/forecaster';
import type { Ownership } from './cascade/ownership.ts';

/** These kinds are marked first, and deleted in a second step without a resourceVersion. */
const MARKED = new Set(['v1 Pod', 'v1 Namespace', 'apiextensions.k8s.io/v1 CustomResourceDefinition']);

const isMarked = ({ apiVersion, kind }: ObjectName): boolean => MARKED.has(`${apiVersion} ${kind}`);

/** Why the deletion is refused, as a message. Undefined if no reason is known. */
export function computeRefusal(
  { object, propagation, anyVersion }: Pick<DeletedStatement, 'object' | 'propagation' | 'anyVersion'>,
  ownership: Ownership | undefined,
): string | undefined {
  if (propagation !== 'Background' || anyVersion === true || isMarked(object)) return undefined;
  if (ownership === undefined) return undefined;
  const policy = ownership.policyOf(object.uid);
  if (policy === 'Background' || ownership.keptBy(object.uid).length > 0) return undefined;
  const finalizer = policy === 'Orphan' ? 'orphan' : 'foregroundDeletion';
  return `the API server refuses to delete in the background, by its version, what has the finalizer ${finalizer}`;
}
