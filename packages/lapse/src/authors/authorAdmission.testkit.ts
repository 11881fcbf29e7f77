// For tests of admission: manifests and requests of users.

import type { AdmissionRequest } from '@lapse/kube/api/admission';
import type { KubeObject } from '@lapse/kube/api/object';
import { AUTHOR_ANNOTATION } from './authorSeal.ts';

export const manifest = (more: object = {}, spec: object = { ttl: '1h' }): KubeObject => ({
  apiVersion: 'lapse.dev/v1alpha1',
  kind: 'TTLPolicy',
  metadata: { name: 'runs', namespace: 'ci', ...more },
  spec,
});

export const annotated = (object: KubeObject, text: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [AUTHOR_ANNOTATION]: text } },
});

export const requestOf = (
  username: string,
  object: KubeObject,
  oldObject: KubeObject | null = null,
): AdmissionRequest => ({
  uid: 'r',
  operation: oldObject === null ? 'CREATE' : 'UPDATE',
  kind: { group: 'lapse.dev', version: 'v1alpha1', kind: 'TTLPolicy' },
  resource: { group: 'lapse.dev', version: 'v1alpha1', resource: 'ttlpolicies' },
  name: object.metadata.name ?? '',
  namespace: object.metadata.namespace ?? '',
  userInfo: { username, groups: ['system:authenticated'] },
  object,
  oldObject,
  dryRun: false,
});

export const OTHER = { ttl: '1s' };
