// The connection to a real cluster, from kubeconfig, environment or service account.

import type { Clock } from '@lapse/base/clock';
import { ConfigError } from '@lapse/kube/client/configFields';
import { connect } from '@lapse/kube/client/connect';
import type { Connection } from '@lapse/kube/client/connection';
import { loadConnection } from '@lapse/kube/client/kubeconfig';
import { SOCKET_LIVENESS } from '@lapse/runtime/liveness';
import type { ClusterConnection } from './assemble.ts';
import { firstLine, UsageError } from './usage.ts';

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface Cluster extends ClusterConnection {
  readonly description: string;
  readonly server: string;
  /** The process runs in a Pod of the cluster. */
  readonly inCluster: boolean;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export async function reachCluster(
  flags: ClusterFlags,
  environment: Environment,
  clock: Clock,
): Promise<Cluster> {
  try {
    const { kubeconfig, context } = flags;
    const connection = await loadConnection({
      environment,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    const inCluster = connection.server === podServer(environment);
    return { ...(await wire(connection, environment, clock)), inCluster };
  } catch (cause) {
    if (cause instanceof ConfigError) throw new UsageError(firstLine(cause.message));
    throw cause;
  }
}

/** The API server's address from the environment of a Pod. */
const podServer = ({ KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port }: Environment) =>
  `https://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Lease renewal sends one request at a time. */
const LEASE_CONNECTIONS = 2;

async function wire(
  connection: Connection,
  environment: Environment,
  clock: Clock,
): Promise<Omit<Cluster, 'inCluster'>> {
  const options = { clock, environment, interactive: process.stdin.isTTY === true };
  const main = await connect(connection, options);
  const lease = await connect(connection, { ...options, connections: LEASE_CONNECTIONS });
  return {
    transport: main.transport,
    leaseTransport: lease.transport,
    credentials: main.credentials,
    namespace: connection.namespace,
    liveness: SOCKET_LIVENESS,
    description: connection.description,
    server: connection.server,
    close: async () => void (await Promise.all([main.transport.close(), lease.transport.close()])),
  };
}
