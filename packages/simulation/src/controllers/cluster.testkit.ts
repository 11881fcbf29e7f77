// Test fixture for comparisons with real controllers: one control plane per test file, and a client for it.

import { readFileSync } from 'node:fs';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { type UndiciTransport, undiciTransport } from '@lapse/kube/client/undici';
import { afterAll, beforeAll } from 'vitest';
import { type Bed, startBed } from '../../../../test/kube/bed/bed.ts';

export const sleep = (length: number): Promise<void> =>
  new Promise<void>((resolve) => setTimeout(resolve, length));

/** `client` is available once the first hook or test runs. */
export function realCluster(...controllers: string[]): { readonly client: Client } {
  const state = {} as { client: Client };
  let bed: Bed | undefined;
  let transport: UndiciTransport | undefined;
  beforeAll(async () => {
    bed = await startBed({ controllers });
    const tls = { ca: readFileSync(bed.caFile, 'utf8') };
    transport = undiciTransport({ server: bed.url, clock: realClock, tls });
    const credentials = fixedCredentials({ headers: bearer(bed.adminToken) });
    state.client = createClient({ transport, clock: realClock, random: systemRandom, credentials });
  });
  afterAll(async () => {
    await transport?.close();
    await bed?.stop();
  });
  return state;
}
