// Writes the status of an object with the resourceVersion that was read. A rejected write is reported as an Event and not
// retried: the status conflicts with one that another client wrote.

import { assertNever } from '@lapse/base/assertNever';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { again, type Outcome, settled, terminal } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';

export async function patchStatus<T extends KubeObject>(
  { client }: ReconcileContext,
  kind: Kind<T>,
  key: ObjectKey,
  { of, status }: { of: T; status: object },
): Promise<Outcome> {
  const { uid, resourceVersion } = of.metadata;
  const answer = await client.patch(
    kind,
    key,
    { type: 'merge', patch: { status } },
    { subresource: 'status', ifUid: uid!, ifVersion: resourceVersion! },
  );
  switch (answer.kind) {
    case 'patched':
    case 'missing':
      return settled();
    case 'conflict':
      return again('changed since read');
    case 'invalid':
      return terminal('StatusRefused', answer.error.message);
    default:
      return assertNever(answer);
  }
}
