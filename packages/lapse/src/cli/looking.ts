// A cluster for commands that somebody waits for: after a few seconds without an answer it is said whom they wait for, and
// a server that has never answered is given up sooner than a controller would.

import { type Clock, realClock } from '@lapse/base/clock';
import { seconds } from '@lapse/base/instant';
import { wakeAfter } from '@lapse/base/monotonic';
import { systemRandom } from '@lapse/base/random';
import { type Client, createClient } from '@lapse/kube/client/client';
import { withDeadline } from '@lapse/kube/client/deadline';
import type { Transport } from '@lapse/kube/client/transport';
import { type Cluster, type ClusterFlags, reachCluster } from '#manager/cluster';
import { readOnly } from '#manager/readOnly';

export interface Looking {
  readonly client: Client;
  readonly cluster: Cluster;
}

/** A note beside the result, on the standard error. */
export const sayToUser = (text: string): void => void process.stderr.write(`lapse: ${text}\n`);

/** To be closed by whoever asked. */
export async function openCluster(flags: ClusterFlags): Promise<Looking> {
  const cluster = await reachCluster(flags, process.env, realClock);
  const { transport, credentials, server } = cluster;
  const say = (): void => sayToUser(`waiting for an answer of ${server}`);
  const client = createClient({
    transport: impatient(readOnly(transport), { clock: realClock, say }),
    credentials,
    clock: realClock,
    random: systemRandom,
  });
  return { client, cluster };
}

/** Nobody wonders before. */
const SILENCE = seconds(3);
/** For one attempt, as long as there has been no answer at all; a large list may take longer. */
const FIRST_ANSWER = seconds(10);

export interface ImpatienceOptions {
  readonly clock: Clock;
  /** There has been no answer for a while; said once. */
  readonly say: () => void;
}

export function impatient(inner: Transport, { clock, say }: ImpatienceOptions): Transport {
  const hasty = withDeadline(inner, { clock, timeout: FIRST_ANSWER });
  let isKnown = false;
  let isSaid = false;
  return {
    ...inner,
    async request(request) {
      const cancel = wakeAfter(clock, SILENCE, () => {
        if (!isSaid) say();
        isSaid = true;
      });
      try {
        const answer = await (isKnown ? inner : hasty).request(request);
        isKnown = true;
        return answer;
      } finally {
        cancel();
      }
    },
  };
}
