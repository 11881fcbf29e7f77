// Targets → manifests, in the order of the targets, read live: no cache has all kinds, and a cache may be behind.

import { Reason } from '#api/kinds/storage/conditions';
import type { KubeObject } from '#api/object';
import { describeIdentity } from '#checkpoint/identity';
import { type Failure, failure, isFailure } from '#lifecycle/requests/refusal';
import { inOrder } from './inOrder.ts';
import { computeManifest } from './profile.ts';
import type { Target } from './targets.ts';
import { refusal, type Work } from './work.ts';

/** Half of what the client lets out at once: others want to be served too. */
const READS = 16;

/** Undefined for an object that the profile leaves out. Throws what is no answer. */
export async function* readManifests(
  work: Work,
  targets: readonly Target[],
): AsyncGenerator<KubeObject | Failure | undefined, void> {
  const { policy } = work.options;
  for await (const object of inOrder(targets, READS, (target) => getTarget(work, target)))
    yield isFailure(object) ? object : computeManifest(object, policy);
}

async function getTarget({ pass, options }: Work, target: Target): Promise<KubeObject | Failure> {
  const what = describeIdentity(target);
  try {
    const found = await options.targets.get(target.served, target.key, { signal: pass.signal });
    return found ?? failure(Reason.NotFound, `${what} does not exist`);
  } catch (error) {
    return refusal(error, `reading ${what}`);
  }
}
