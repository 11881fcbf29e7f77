// Applies manifests to the embedded API server as a user would.

import { realClock } from '@lapse/base/clock';
import { millis } from '@lapse/base/instant';
import { sleep } from '@lapse/base/sleep';
import type { Client } from '@lapse/kube/client/client';
import { createUserClient, KindNotServed, type Manifests } from '@lapse/simulation/userClient';

const TRIES = 10;

/** Retries, because a kind whose CRD was just created is served with a delay. Returns the error message, if any. */
export async function applyWithRetries(user: Client, manifests: Manifests): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    const error = await tryApply(user, manifests);
    if (tries === TRIES || !(error instanceof KindNotServed)) return error?.message;
    await sleep(realClock, millis(100 * tries));
    user.discovery.invalidate();
  }
}

/** Returns the error message, if any. */
export async function applyOnce(user: Client, manifests: Manifests): Promise<string | undefined> {
  return (await tryApply(user, manifests))?.message;
}

async function tryApply(user: Client, manifests: Manifests): Promise<Error | undefined> {
  try {
    await createUserClient(user).apply(manifests);
    return undefined;
  } catch (cause) {
    return cause as Error;
  }
}
