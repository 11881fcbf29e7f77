// Cluster access for interactive commands: after a few seconds without a response, the user sees which API server is
// slow. A server that has never responded is given up sooner than by a controller.

import { type Clock, realClock } from '@lapse/base/clock';
import { seconds } from '@lapse/base/instant';
import { wakeAfter } from '@lapse/base/monotonic';
import { systemRandom } from '@lapse/base/random';
import { type Client, createClient } from '@lapse/kube/client/client';
import { withDeadline } from '@lapse/kube/client/deadline';
import type { Transport } from '@lapse/kube/client/transport';
import { type Cluster, type ClusterFlags, reachCluster } from '#manager/cluster';
import { readOnly } from '#manager/readOnly';

export interface ReadOnlyCluster {
  readonly client: Client;
  readonly cluster: Cluster;
}

/** A message on standard error, beside the result. */
export const sayToUser = (text: string): void => void process.stderr.write(`lapse: ${text}\n`);

/** The caller must close it. */
export async function openCluster(flags: ClusterFlags): Promise<ReadOnlyCluster> {
  const cluster = await reachCluster(flags, process.env, realClock);
  const { transport, credentials, server } = cluster;
  const say = (): void => sayToUser(`waiting for a response of ${server}`);
  const client = createClient({
    transport: impatient(readOnly(transport), { clock: realClock, say }),
    credentials,
    clock: realClock,
    random: systemRandom,
  });
  return { client, cluster };
}

/** Time without a response before the message. */
const SILENCE = seconds(3);
/** Timeout per attempt until the first response. A large list may take longer. */
const FIRST_ANSWER = seconds(10);

export interface ImpatienceOptions {
  readonly clock: Clock;
  /** Called once when there has been no response for a while. */
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
