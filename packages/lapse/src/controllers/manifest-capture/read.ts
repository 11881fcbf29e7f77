// Targets → manifests, in the order of the targets, read live: no cache has all kinds, and a cache may be behind.

import type { KubeObject } from '@lapse/kube/api/object';
import { Reason } from '#api/storage/conditions';
import { describeIdentity } from '#checkpoint/identity';
import { type Failure, failure } from '#requests/refusal';
import { inOrder } from './inOrder.ts';
import { computeManifest } from './profile.ts';
import type { Target } from './targets.ts';
import { refusal, type Work } from './work.ts';

/** Half of what the client lets out at once: others want to be served too. */
const READS = 16;

/** In a wrapping of its own: a kind of objects may be called anything, `failure` too. */
export interface Read {
  readonly kind: 'read';
  /** Undefined: the profile leaves the object out. */
  readonly manifest: KubeObject | undefined;
}

/** Throws what is no answer. */
export async function* readManifests(
  work: Work,
  targets: readonly Target[],
): AsyncGenerator<Read | Failure, void> {
  yield* inOrder(targets, READS, (target) => getTarget(work, target));
}

async function getTarget({ pass, options }: Work, target: Target): Promise<Read | Failure> {
  const what = describeIdentity(target);
  try {
    const found = await options.targets.get(target.served, target.key, { signal: pass.signal });
    if (found === undefined) return failure(Reason.NotFound, `${what} does not exist`);
    return { kind: 'read', manifest: computeManifest(found, options.policy) };
  } catch (error) {
    return refusal(error, `reading ${what}`);
  }
}
