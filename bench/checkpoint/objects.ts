// ConfigMaps of about a kilobyte with realistic settings: repeated words, unique values.

import { sha256 } from '@lapse/base/codec';
import type { KubeObject } from '@lapse/kube/api/object';

export const nameOf = (i: number): string => `settings-${String(i).padStart(5, '0')}`;

export function settings(i: number): KubeObject {
  const token = sha256(`settings ${i}`);
  const lines = Array.from({ length: 12 }, (_, n) => `feature.${n}.enabled=${(i + n) % 3 === 0}`);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: nameOf(i), namespace: 'default', labels: { app: `app-${i % 50}`, tier: 'backend' } },
    data: {
      'application.properties': [`service.id=${token}`, `seed=${sha256(token)}`, ...lines].join('\n'),
      endpoint: `https://service-${i % 97}.example.com/v2`,
      signature: sha256(token + i) + sha256(i + token),
    },
  };
}
