// An AdmissionReview that no API server sent.

/** A review as the API server sends it, in the name of an administrator. */
export const forgedReview = (resource: 'ttlpolicies' | 'cleaners'): string =>
  JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '1',
      operation: 'CREATE',
      kind: {
        group: 'lapse.dev',
        version: 'v1alpha1',
        kind: resource === 'cleaners' ? 'Cleaner' : 'TTLPolicy',
      },
      resource: { group: 'lapse.dev', version: 'v1alpha1', resource },
      name: 'forged',
      namespace: 'default',
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      object: {
        apiVersion: 'lapse.dev/v1alpha1',
        kind: resource === 'cleaners' ? 'Cleaner' : 'TTLPolicy',
        metadata: { name: 'forged', namespace: 'default' },
        spec: { target: { apiVersion: 'v1', kind: 'Secret' }, ttl: '1s', from: 'Created' },
      },
    },
  });
