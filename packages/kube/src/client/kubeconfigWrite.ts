// A kubeconfig for one cluster, one user and one context, as `kubectl --kubeconfig` reads it.

import { rename, rm, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';

export interface KubeconfigEntry {
  /** Of the cluster, the user and the context. */
  readonly name: string;
  readonly server: string;
  /** PEM; written inline. */
  readonly ca?: string;
  readonly token?: string;
  /** PEM client certificate and key; written inline. */
  readonly cert?: string;
  readonly key?: string;
  readonly namespace?: string;
}

const base64 = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text).toString('base64');

/** YAML text. Absent fields are left out. */
export function renderKubeconfig(entry: KubeconfigEntry): string {
  const { name, server, token, namespace } = entry;
  const cluster = { server, 'certificate-authority-data': base64(entry.ca) };
  const user = {
    token,
    'client-certificate-data': base64(entry.cert),
    'client-key-data': base64(entry.key),
  };
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    'current-context': name,
  };
  return stringify(document, { lineWidth: 0 });
}

/** Writes the file at once and for its owner only: it holds a credential. */
export async function writeKubeconfig(file: string, entry: KubeconfigEntry): Promise<void> {
  const draft = `${file}.new`;
  // A mode counts only for a file that is made here; one that a crash left behind keeps its own.
  await rm(draft, { force: true });
  await writeFile(draft, renderKubeconfig(entry), { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
}
