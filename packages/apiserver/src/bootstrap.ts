// Creates the four namespaces that every cluster starts with.

import { formatTime } from '@lapse/base/instant';
import { uuid } from '@lapse/base/random';
import type { Core } from './context.ts';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export async function bootstrap(core: Core): Promise<void> {
  for (const name of NAMESPACES) {
    if (core.store.get('namespaces', name)) continue;
    await core.store.put('namespaces', name, 0, {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        name,
        uid: uuid(core.random),
        creationTimestamp: formatTime(core.clock.now()),
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  }
}
