// Finds the cluster configuration in this order: an explicit kubeconfig, $KUBECONFIG, the service account of the Pod,
// ~/.kube/config. The environment is a parameter: only commands read it.

import { delimiter, join } from 'node:path';
import { ConfigError } from './configFields.ts';
import type { Connection } from './connection.ts';
import { inClusterConnection, isInCluster, SERVICE_ACCOUNT_DIRECTORY } from './inCluster.ts';
import { resolveContext, type Selection } from './kubeconfigContext.ts';
import { type Kubeconfig, mergeKubeconfigs, readKubeconfig } from './kubeconfigFile.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadOptions extends Selection {
  readonly environment: Environment;
  /** A file that must exist. No other source is read. */
  readonly kubeconfig?: string;
  /** The mount path of the service account. */
  readonly serviceAccountDirectory?: string;
}

async function readAll(files: readonly string[]): Promise<Kubeconfig | undefined> {
  const found = (await Promise.all(files.map(readKubeconfig))).filter((config) => config !== undefined);
  return found.length === 0 ? undefined : mergeKubeconfigs(found);
}

/** The files in $KUBECONFIG without repetitions. Undefined if it names no file. */
function filesOf(environment: Environment): string[] | undefined {
  const files = (environment.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  return files.length === 0 ? undefined : [...new Set(files)];
}

async function fromEnvironment(options: LoadOptions, files: readonly string[]): Promise<Connection> {
  const config = await readAll(files);
  if (config === undefined) throw new ConfigError('KUBECONFIG', `no such file: ${files.join(', ')}`);
  return resolveContext(config, options);
}

async function fromHome(options: LoadOptions): Promise<Connection> {
  const home = options.environment.HOME ?? options.environment.USERPROFILE;
  const file = home === undefined || home === '' ? undefined : join(home, '.kube', 'config');
  const config = file === undefined ? undefined : await readAll([file]);
  if (config !== undefined) return resolveContext(config, options);
  const tried = ['--kubeconfig', 'KUBECONFIG', 'a Pod’s service account', file ?? '~/.kube/config'];
  throw new ConfigError('no cluster is configured', `tried ${tried.join(', ')}`);
}

export async function loadConnection(options: LoadOptions): Promise<Connection> {
  const { environment, kubeconfig } = options;
  if (kubeconfig !== undefined) {
    const config = await readAll([kubeconfig]);
    if (config === undefined) throw new ConfigError(kubeconfig, 'no such file');
    return resolveContext(config, options);
  }
  const files = filesOf(environment);
  if (files !== undefined) return fromEnvironment(options, files);
  const directory = options.serviceAccountDirectory ?? SERVICE_ACCOUNT_DIRECTORY;
  if (await isInCluster(environment, directory)) return inClusterConnection(environment, directory);
  return fromHome(options);
}
