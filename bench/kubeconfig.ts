// A kubeconfig for a server without authentication.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function writeKubeconfig(directory: string, server: string): void {
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(join(directory, 'kubeconfig'), JSON.stringify(kubeconfig));
}
