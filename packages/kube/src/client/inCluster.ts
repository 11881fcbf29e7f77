// Reads the in-cluster configuration: the service account of the Pod this process runs in.

import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from './configFields.ts';
import type { Connection } from './connection.ts';

/** Where Kubernetes mounts the service account in every Pod. */
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

type Environment = Readonly<Record<string, string | undefined>>;

const addressOf = (environment: Environment): { host: string; port: string } | undefined => {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  return host === undefined || host === '' || port === undefined || port === '' ? undefined : { host, port };
};

/** Whether the environment names an API server and a token file exists. */
export async function isInCluster(environment: Environment, directory: string): Promise<boolean> {
  if (addressOf(environment) === undefined) return false;
  return access(join(directory, 'token')).then(
    () => true,
    () => false,
  );
}

export async function inClusterConnection(environment: Environment, directory: string): Promise<Connection> {
  const where = 'service account';
  const address = addressOf(environment);
  if (address === undefined)
    throw new ConfigError(where, 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set');
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  return {
    description: 'the service account of this Pod',
    server: `https://${host}:${address.port}`,
    namespace: namespace === '' ? 'default' : namespace,
    ca: { field: `${where}: ca.crt`, path: join(directory, 'ca.crt') },
    insecure: false,
    auth: { kind: 'tokenFile', path: join(directory, 'token'), field: `${where}: token` },
  };
}
