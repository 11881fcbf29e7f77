// One row of the attack table: the attacker, the attack, and what they must not obtain. docs/operations/security.md shows the
// table; attacks.test.ts runs it on the embedded server, attacks.kube.ts on a real API server.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { UserClient } from '@lapse/simulation/userClient';
import type { Rule } from 'lapse/manager/rbac';
import type { LapseProcess } from '../cmd/lapseProcess.ts';

interface Described {
  /** A full sentence about what Lapse does: `a forged deletion record is discarded`. */
  readonly name: string;
  /** The attacker and their rights. */
  readonly attacker: string;
  readonly steps: string;
  readonly mustNotObtain: string;
}

/** Needs an API server with RBAC and an installed Lapse: runs on both servers. */
export interface ClusterAttack extends Described {
  readonly on: 'cluster';
  /** Fails if the attacker obtains what they must not. */
  run(cluster: AttackCluster): Promise<void>;
}

/** Hostile input to code of one process, without an API server, so it runs once. */
export interface ProcessAttack extends Described {
  readonly on: 'process';
  run(): Promise<void> | void;
}

export type Attack = ClusterAttack | ProcessAttack;

export interface AttackCluster {
  readonly url: string;
  /** PEM of the API server's CA. */
  readonly ca: string;
  /** For files of the test; removed afterwards. */
  readonly directory: string;
  readonly admin: Client;
  /** Applies, patches and reads as the administrator. */
  readonly userClient: UserClient;
  /** A new, empty namespace for one row. */
  namespace(name: string): Promise<string>;
  /** A user with exactly these rules in this namespace: a service account of it, and a client with its token. */
  user(namespace: string, name: string, rules: readonly Rule[]): Promise<AttackUser>;
  /** Grants Lapse's own service account these rules in the whole cluster, as an operator would. */
  grantLapse(rules: readonly Rule[]): Promise<void>;
  /** `lapse run` with the roles and the webhooks of the default chart, shared by all rows. */
  readonly lapse: LapseProcess;
  /** Where that process serves admission reviews: `https://127.0.0.1:port`. */
  readonly webhookUrl: string;
  /** Applies objects while the webhooks of Lapse are not registered, then registers them again. */
  withoutAdmission(work: () => Promise<void>): Promise<void>;
}

export interface AttackUser {
  /** `system:serviceaccount:…`. */
  readonly username: string;
  readonly token: string;
  readonly client: Client;
  readonly userClient: UserClient;
}

export const configMap = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
});
