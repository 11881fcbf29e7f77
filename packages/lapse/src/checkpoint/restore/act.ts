// Executes a restore plan in order. An object that changed since the plan is not overwritten: the request carries the
// resourceVersion of the comparison.

import { ApiError } from '@lapse/kube/api/status';
import { MANAGER, type PlanOptions, type RestoreClient, type Step } from './plan.ts';

/** The result of one step. */
export type Done =
  | { readonly kind: 'created' | 'changed'; readonly what: string }
  | { readonly kind: 'failed'; readonly what: string; readonly because: string };

/** Creates and updates objects in order; stops at the first failure. */
export async function* carryOut(
  client: RestoreClient,
  steps: readonly Step[],
  { force = false }: Pick<PlanOptions, 'force'> = {},
): AsyncGenerator<Done, void> {
  for (const step of steps) {
    if (step.kind !== 'create' && step.kind !== 'change') continue;
    const done = await carryOutOne(client, step, force);
    yield done;
    if (done.kind === 'failed') return;
  }
}

async function carryOutOne(
  client: RestoreClient,
  step: Extract<Step, { kind: 'create' | 'change' }>,
  force: boolean,
): Promise<Done> {
  const { what, object, served } = step;
  const { metadata } = object;
  const applied =
    step.kind === 'create' ? object : { ...object, metadata: { ...metadata, resourceVersion: step.version } };
  try {
    const answer = await client.apply(served, applied, { fieldManager: MANAGER, force });
    if (answer.kind === 'applied') return { kind: step.kind === 'create' ? 'created' : 'changed', what };
    return { kind: 'failed', what, because: answer.error.message };
  } catch (error) {
    if (error instanceof ApiError) return { kind: 'failed', what, because: error.message };
    throw error;
  }
}
