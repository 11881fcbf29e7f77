// For tests of incomplete uninstalls: the Cleaner, the release record and its content.

import type { KubeObject } from '@lapse/kube/api/object';
import { openStored, readStored } from 'lapse/helm/storage';
import { cleaner } from './kit.ts';

export const RECORD = 'sh.helm.release.v1.shop.v1';

export const uninstalls = (more = {}) =>
  cleaner({ ttl: '1m', helm: { release: 'shop', delete: true }, ...more });

/** The fields that packages/lapse/src/helm reads from a stored record. */
export function readRelease(object: KubeObject) {
  const stored = readStored(object, object.kind === 'ConfigMap' ? 'configmap' : 'secret', 'shop');
  const { decoded } = openStored(stored!, { name: 'shop', namespace: 'default' });
  if (decoded.kind === 'corrupt') throw new Error(decoded.why);
  return decoded.release;
}
