// Reads the `exec` section of a kubeconfig user.

import { dirname, resolve, sep } from 'node:path';
import { ConfigError, type Fields } from './configFields.ts';
import type { ExecCluster, ExecConfig, Material } from './connection.ts';
import { type Entry, readExecExtension } from './kubeconfigFile.ts';

const GROUP = 'client.authentication.k8s.io';
const MODES = ['Never', 'IfAvailable', 'Always'] as const;
const MAX_HINT = 2000;

function readApiVersion(fields: Fields): ExecConfig['apiVersion'] {
  const version = fields.required('apiVersion');
  if (version === `${GROUP}/v1` || version === `${GROUP}/v1beta1`) return version;
  throw new ConfigError(fields.at('apiVersion'), `${version} is not supported; ${GROUP}/v1 and v1beta1 are`);
}

function readMode(fields: Fields, apiVersion: string): ExecConfig['interactiveMode'] {
  const text = fields.text('interactiveMode');
  if (text === undefined) {
    if (apiVersion === `${GROUP}/v1beta1`) return 'IfAvailable';
    throw new ConfigError(fields.at('interactiveMode'), `is missing; one of ${MODES.join(', ')}`);
  }
  const mode = MODES.find((known) => known === text);
  if (mode === undefined)
    throw new ConfigError(
      fields.at('interactiveMode'),
      `${JSON.stringify(text)} is not supported, must be one of ${MODES.join(', ')}`,
    );
  return mode;
}

/** A command with a slash is a path relative to the kubeconfig's directory. Others are looked up in PATH. */
function readCommand(fields: Fields, file: string): string {
  const command = fields.required('command');
  return command.includes('/') || command.includes(sep) ? resolve(dirname(file), command) : command;
}

function readEnv(fields: Fields): Record<string, string> {
  const env: Record<string, string> = {};
  for (const entry of fields.maps('env')) env[entry.required('name')] = entry.text('value') ?? '';
  return env;
}

// Control characters in a hint could manipulate the terminal.
const cleanHint = (hint: string): string => hint.replace(/[^\P{Cc}\n]/gu, '').slice(0, MAX_HINT);

interface ClusterOfExec {
  readonly entry: Entry;
  readonly server: string;
  readonly insecure: boolean;
  readonly ca?: Material;
  readonly proxyUrl?: string;
  readonly servername?: string;
}

async function describeCluster(cluster: ClusterOfExec): Promise<ExecCluster> {
  const { entry, server, insecure, ca, proxyUrl, servername } = cluster;
  const config = await readExecExtension(entry.file, entry.name);
  return {
    server,
    insecure,
    ...(servername === undefined ? {} : { tlsServerName: servername }),
    ...(ca === undefined ? {} : { ca }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(config === undefined ? {} : { config }),
  };
}

export async function resolveExec(fields: Fields, file: string, cluster: ClusterOfExec): Promise<ExecConfig> {
  const apiVersion = readApiVersion(fields);
  const installHint = fields.text('installHint');
  return {
    apiVersion,
    command: readCommand(fields, file),
    args: fields.texts('args'),
    env: readEnv(fields),
    interactiveMode: readMode(fields, apiVersion),
    ...(installHint === undefined ? {} : { installHint: cleanHint(installHint) }),
    ...(fields.flag('provideClusterInfo') ? { cluster: await describeCluster(cluster) } : {}),
    field: fields.where,
  };
}
