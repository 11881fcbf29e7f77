// Builds a Connection from one context of a merged kubeconfig.

import { dirname, resolve } from 'node:path';
import { ConfigError, type Fields } from './configFields.ts';
import type { AuthMethod, Connection, Material } from './connection.ts';
import type { Impersonation } from './credentials.ts';
import { resolveExec } from './kubeconfigExec.ts';
import type { Entry, Kubeconfig } from './kubeconfigFile.ts';

/** Command-line overrides of the kubeconfig. */
export interface Selection {
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
  readonly impersonate?: Impersonation;
}

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const PROXY_PROTOCOLS = new Set(['http:', 'https:', 'socks5:']);

const quote = (names: Iterable<string>): string =>
  [...names].map((name) => JSON.stringify(name)).join(', ') || 'none';

function pick(entries: ReadonlyMap<string, Entry>, name: string, what: string, config: Kubeconfig): Entry {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  const problem = `${what} ${JSON.stringify(name)} not found (available: ${quote(entries.keys())})`;
  throw new ConfigError(config.files.join(', '), problem);
}

/** Inline `name-data`, or the file in `name`, relative to the kubeconfig's directory. */
function material({ fields, file }: Entry, name: string): Material | undefined {
  const data = fields.text(`${name}-data`);
  if (data !== undefined) {
    const field = fields.at(`${name}-data`);
    if (!BASE64.test(data)) throw new ConfigError(field, 'is not base64');
    return { field, pem: Buffer.from(data, 'base64').toString('utf8') };
  }
  const path = fields.text(name);
  return path === undefined ? undefined : { field: fields.at(name), path: resolve(dirname(file), path) };
}

function urlField(
  fields: Fields,
  name: string,
  allowed: (url: URL) => boolean,
  expected: string,
): string | undefined {
  const text = fields.text(name);
  if (text === undefined) return undefined;
  if (!URL.canParse(text) || !allowed(new URL(text)))
    throw new ConfigError(fields.at(name), `${JSON.stringify(text)} is not ${expected}`);
  return text;
}

function readCluster(entry: Entry) {
  const { fields } = entry;
  const isHttp = (url: URL) => url.protocol === 'https:' || url.protocol === 'http:';
  const server = urlField(fields, 'server', isHttp, 'an http or https URL');
  if (server === undefined) throw new ConfigError(fields.at('server'), 'is missing');
  const ca = material(entry, 'certificate-authority');
  const insecure = fields.flag('insecure-skip-tls-verify');
  if (insecure && ca !== undefined)
    throw new ConfigError(
      fields.at('insecure-skip-tls-verify'),
      'and certificate-authority exclude each other',
    );
  const isProxy = (url: URL) => PROXY_PROTOCOLS.has(url.protocol);
  const proxyUrl = urlField(fields, 'proxy-url', isProxy, 'an http, https or socks5 URL');
  const servername = fields.text('tls-server-name');
  return {
    server,
    insecure,
    ...(ca === undefined ? {} : { ca }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(servername === undefined ? {} : { servername }),
  };
}

function readImpersonation(fields: Fields): Impersonation | undefined {
  const user = fields.text('as');
  const uid = fields.text('as-uid');
  const groups = fields.texts('as-groups');
  const extraFields = fields.map('as-user-extra');
  if (user === undefined) {
    if (uid !== undefined || groups.length > 0 || extraFields !== undefined)
      throw new ConfigError(fields.at('as'), 'is required when as-uid, as-groups or as-user-extra is set');
    return undefined;
  }
  const extra = Object.fromEntries(
    (extraFields?.names ?? []).map((name) => [name, extraFields!.texts(name)]),
  );
  return {
    user,
    ...(uid === undefined ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extraFields === undefined ? {} : { extra }),
  };
}

function readToken({ fields, file }: Entry): AuthMethod | undefined {
  const token = fields.text('token');
  const path = fields.text('tokenFile');
  if (path !== undefined) {
    const at = { path: resolve(dirname(file), path), field: fields.at('tokenFile') };
    return { kind: 'tokenFile', ...at, ...(token === undefined ? {} : { fallback: token }) };
  }
  return token === undefined ? undefined : { kind: 'token', token };
}

async function readAuth(
  entry: Entry,
  cluster: Entry,
  connection: ReturnType<typeof readCluster>,
): Promise<AuthMethod> {
  const { fields } = entry;
  const provider = fields.map('auth-provider');
  if (provider !== undefined) throw new ConfigError(fields.at('auth-provider'), 'is not supported; use exec');
  const token = readToken(entry);
  const username = fields.text('username');
  if (token !== undefined && username !== undefined)
    throw new ConfigError(fields.at('username'), 'username and token are mutually exclusive');
  const exec = fields.map('exec');
  // Like kubectl: static credentials win over exec plugins.
  if (token !== undefined) return token;
  if (username !== undefined) return { kind: 'basic', username, password: fields.text('password') ?? '' };
  if (exec === undefined) return { kind: 'none' };
  return { kind: 'exec', exec: await resolveExec(exec, entry.file, { entry: cluster, ...connection }) };
}

async function readUser(entry: Entry, cluster: Entry, connection: ReturnType<typeof readCluster>) {
  const cert = material(entry, 'client-certificate');
  const key = material(entry, 'client-key');
  if ((cert === undefined) !== (key === undefined)) {
    const absent = cert === undefined ? 'client-certificate' : 'client-key';
    throw new ConfigError(
      entry.fields.at(absent),
      'is missing: client certificate and key must be set together',
    );
  }
  const impersonate = readImpersonation(entry.fields);
  return {
    // Like kubectl: send no secrets over an unencrypted connection.
    auth: connection.server.startsWith('https:') ? await readAuth(entry, cluster, connection) : NO_AUTH,
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

const NO_AUTH: AuthMethod = { kind: 'none' };

function contextOf(config: Kubeconfig, selection: Selection): { name?: string; entry?: Entry } {
  const name = selection.context ?? config.currentContext;
  if (name !== undefined) return { name, entry: pick(config.contexts, name, 'context', config) };
  if (selection.cluster !== undefined) return {};
  const problem = `is not set; choose one with --context (available: ${quote(config.contexts.keys())})`;
  throw new ConfigError(`${config.files.join(', ')}: current-context`, problem);
}

export async function resolveContext(config: Kubeconfig, selection: Selection = {}): Promise<Connection> {
  const { name, entry } = contextOf(config, selection);
  const clusterName = selection.cluster ?? entry!.fields.required('cluster');
  const userName = selection.user ?? entry?.fields.text('user');
  const cluster = pick(config.clusters, clusterName, 'cluster', config);
  const connection = readCluster(cluster);
  const user =
    userName === undefined
      ? { auth: NO_AUTH }
      : await readUser(pick(config.users, userName, 'user', config), cluster, connection);
  const source =
    name === undefined ? `cluster ${JSON.stringify(clusterName)}` : `context ${JSON.stringify(name)}`;
  return {
    description: `${source} of ${(entry ?? cluster).file}`,
    namespace: selection.namespace ?? entry?.fields.text('namespace') ?? 'default',
    ...connection,
    ...user,
    ...(selection.impersonate === undefined ? {} : { impersonate: selection.impersonate }),
  };
}
