// A plan carried out, in its order. Whatever changed since the plan was made is left alone: the API server is told which
// version the comparison was made with.

import { ApiError } from '@lapse/kube/api/status';
import { MANAGER, type PlanOptions, type RestoreClient, type Step } from './plan.ts';

/** What became of one step. */
export type Done =
  | { readonly kind: 'created' | 'changed'; readonly what: string }
  | { readonly kind: 'failed'; readonly what: string; readonly because: string };

/** Creates and changes, in order; ends with the first that fails. An object is changed only as it was when compared. */
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
