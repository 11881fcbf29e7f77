// Reads the manifests of targets in their order, from the API server: no cache has all kinds, and a cache may be
// stale.

import type { KubeObject } from '@lapse/kube/api/object';
import { Reason } from '#api/storage/conditions';
import { describeIdentity } from '#checkpoint/identity';
import { type Failure, failure } from '#requests/refusal';
import { type Capture, refusal } from './capture.ts';
import { inOrder } from './inOrder.ts';
import { computeManifest } from './profile.ts';
import type { Target } from './targets.ts';

/** Half of the client's parallel requests, so that other controllers are not blocked. */
const READS = 16;

/** A wrapper, because the kind of a captured object may have any name, including `failure`. */
export interface Read {
  readonly kind: 'read';
  /** Undefined: the profile skips the object. */
  readonly manifest: KubeObject | undefined;
}

/** Throws errors that are not responses of the API server. */
export async function* readManifests(
  capture: Capture,
  targets: readonly Target[],
): AsyncGenerator<Read | Failure, void> {
  yield* inOrder(targets, READS, (target) => getTarget(capture, target));
}

async function getTarget({ ctx, options }: Capture, target: Target): Promise<Read | Failure> {
  const what = describeIdentity(target);
  try {
    const found = await options.targets.get(target.served, target.key, { signal: ctx.signal });
    if (found === undefined) return failure(Reason.NotFound, `${what} does not exist`);
    return { kind: 'read', manifest: computeManifest(found, options.policy) };
  } catch (error) {
    return refusal(error, `reading ${what}`);
  }
}
