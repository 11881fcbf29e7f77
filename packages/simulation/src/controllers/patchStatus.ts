// One write to the status of an object, in the version it was read in. What is refused is said on the object and not
// tried again: somebody else wrote a status that this one does not fit.

import { assertNever } from '@lapse/base/assertNever';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { again, type Outcome, settled, terminal } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';

export async function patchStatus<T extends KubeObject>(
  { client }: Pass,
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
