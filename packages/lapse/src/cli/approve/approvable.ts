// The kinds with limits, and how each of them shows that it is stopped.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { Cleaner } from '#api/cleaner';
import type { LimitExceeded, LimitsStatus } from '#api/limits';
import { ClusterTTLPolicy, TTLPolicy, type TTLPolicyStatus } from '#api/ttlPolicy';

export interface Stopped {
  readonly exceeded: LimitExceeded;
  /** The objects to be deleted now. */
  readonly due: number;
}

export interface Approvable {
  /** Names on the command line. */
  readonly words: readonly string[];
  readonly kind: Kind;
  stoppedOf(rule: KubeObject): Stopped | undefined;
}

interface WithLimits extends KubeObject {
  status?: { limits?: LimitsStatus } & Pick<TTLPolicyStatus, 'due'>;
}

function stoppedOf({ status }: WithLimits): Stopped | undefined {
  const exceeded = status?.limits?.exceeded;
  return exceeded && { exceeded, due: status?.due ?? exceeded.due };
}

export const APPROVABLE: readonly Approvable[] = [
  {
    words: ['ttlpolicy', 'ttlpolicies', 'ttlp', 'ttlpolicies.lapse.dev'],
    kind: TTLPolicy as Kind,
    stoppedOf,
  },
  {
    words: ['clusterttlpolicy', 'clusterttlpolicies', 'cttlp', 'clusterttlpolicies.lapse.dev'],
    kind: ClusterTTLPolicy as Kind,
    stoppedOf,
  },
  {
    words: ['cleaner', 'cleaners', 'cln', 'cleaners.cleaner.vtex.dev'],
    kind: Cleaner as Kind,
    stoppedOf,
  },
];
