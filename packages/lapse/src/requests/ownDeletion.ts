// How a controller follows the objects of its kind that its own Expirer deletes.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { type Outcome, settled } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Expirer } from '#deletion/expirer';
import { objectId } from '#deletion/ownDeletions';

/** The outcome for an object that is gone, terminating or already deleted; undefined if it has to be evaluated. */
export function observeDeletion(
  ctx: ReconcileContext,
  kind: Kind,
  object: KubeObject | undefined,
  expirer: Expirer<unknown>,
): Outcome | undefined {
  const observed = expirer.observe(ctx, { kind, id: objectId(kind, ctx.key), object });
  if (observed.kind === 'alive') return undefined;
  return observed.kind === 'terminating' ? observed.outcome : settled();
}

/** The hooks by which the Expirer learns of changes while another replica leads. */
export const standbyHooks = (
  kind: Kind,
  expirer: Expirer<unknown>,
): Required<Pick<ControllerDefinition, 'onStandbyChange' | 'onPause'>> => ({
  onStandbyChange: (key, object) => expirer.observeOnStandby(objectId(kind, key), object),
  onPause: () => expirer.pause(),
});
