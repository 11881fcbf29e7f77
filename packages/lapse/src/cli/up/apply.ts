// Applies manifests to the embedded API server as a user would.

import { realClock } from '@lapse/base/clock';
import { millis } from '@lapse/base/instant';
import { sleep } from '@lapse/base/sleep';
import type { Client } from '@lapse/kube/client/client';
import { createUserClient, type Manifests } from '@lapse/simulation/userClient';

const TRIES = 10;

/** Retries, because a kind whose CRD was just created is served with a delay. Returns the error message, if any. */
export async function applyWithRetries(user: Client, manifests: Manifests): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    const problem = await applyOnce(user, manifests);
    if (problem === undefined || tries === TRIES || !problem.includes('not served')) return problem;
    await sleep(realClock, millis(100 * tries));
    user.discovery.invalidate();
  }
}

/** Returns the error message, if any. */
export async function applyOnce(user: Client, manifests: Manifests): Promise<string | undefined> {
  try {
    await createUserClient(user).apply(manifests);
    return undefined;
  } catch (cause) {
    return (cause as Error).message;
  }
}
