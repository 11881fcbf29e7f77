// The small configuration files of a bed, written into its temporary directory.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function writeTokens(directory: string): { admin: string; nobody: string; file: string } {
  const admin = randomBytes(16).toString('hex');
  const nobody = randomBytes(16).toString('hex');
  const file = join(directory, 'tokens.csv');
  const rows = [`${admin},admin,admin,"system:masters"`, `${nobody},nobody,nobody`];
  writeFileSync(file, `${rows.join('\n')}\n`, { mode: 0o600 });
  return { admin, nobody, file };
}

export function writeKubeconfig(
  directory: string,
  to: { url: string; caFile: string; token: string },
): string {
  const file = join(directory, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bed', cluster: { server: to.url, 'certificate-authority': to.caFile } }],
    users: [{ name: 'admin', user: { token: to.token } }],
    contexts: [{ name: 'bed', context: { cluster: 'bed', user: 'admin' } }],
    'current-context': 'bed',
  };
  writeFileSync(file, JSON.stringify(config, null, 2), { mode: 0o600 });
  return file;
}

export function writeAuditPolicy(directory: string): { file: string; args: string[] } {
  const policy = join(directory, 'audit-policy.json');
  const file = join(directory, 'audit.jsonl');
  const rules = [{ level: 'Metadata', omitStages: ['RequestReceived'] }];
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  return { file, args: [`--audit-policy-file=${policy}`, `--audit-log-path=${file}`] };
}
