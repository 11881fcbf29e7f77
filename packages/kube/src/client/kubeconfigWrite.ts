// Writes a kubeconfig with one cluster, one user and one context, for `kubectl --kubeconfig`.

import { rename, rm, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';

export interface KubeconfigEntry {
  /** Name of the cluster, the user and the context. */
  readonly name: string;
  readonly server: string;
  /** PEM, written inline. */
  readonly ca?: string;
  readonly token?: string;
  /** Client certificate and key in PEM, written inline. */
  readonly cert?: string;
  readonly key?: string;
  readonly namespace?: string;
}

const base64 = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text).toString('base64');

/** YAML text. Absent fields are omitted. */
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

/** Replaces the file atomically, readable by its owner only: it contains a credential. */
export async function writeKubeconfig(file: string, entry: KubeconfigEntry): Promise<void> {
  const draft = `${file}.new`;
  // The mode applies only to new files. A file left by a crash would keep its own mode.
  await rm(draft, { force: true });
  await writeFile(draft, renderKubeconfig(entry), { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
}
