// The Service and webhook configurations for the kinds of Lapse. The process sets the caBundle and the path, of which
// a part is secret. They are absent here, so that another apply does not reset them.

import type { KubeObject } from '@lapse/kube/api/object';
import { clusterMetadataOf, hooksOf, type Installation, metadataOf, webhookService } from './installation.ts';
import type { Hook } from './needs.ts';

export function buildWebhooks(installation: Installation): KubeObject[] {
  const hooks = hooksOf(installation);
  if (hooks.length === 0) return [];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadataOf(installation, webhookService(installation)),
      spec: {
        selector: metadataOf(installation).labels,
        ports: [{ name: 'webhook', port: 443, targetPort: 'webhook' }],
      },
    } as KubeObject,
    ...configurationOf(installation, 'Mutating', hooks),
    ...configurationOf(installation, 'Validating', hooks),
  ];
}

function configurationOf(
  installation: Installation,
  phase: 'Mutating' | 'Validating',
  hooks: readonly Hook[],
): KubeObject[] {
  const own = hooks.filter((hook) => hook.phase === phase.toLowerCase());
  if (own.length === 0) return [];
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${phase}WebhookConfiguration`,
      metadata: clusterMetadataOf(installation, installation.name),
      webhooks: own.map((hook) => webhookOf(installation, hook)),
    } as KubeObject,
  ];
}

/** Fail: only writes to kinds of Lapse depend on it, and an object without a verified author could not act anyway. */
const webhookOf = (installation: Installation, { name, phase, resources }: Hook): object => ({
  name: `${name}.lapse.dev`,
  admissionReviewVersions: ['v1'],
  clientConfig: {
    service: {
      namespace: installation.namespace,
      name: webhookService(installation),
      port: 443,
    },
  },
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  ...(phase === 'mutating' ? { reinvocationPolicy: 'IfNeeded' } : {}),
  rules: resources.map(({ group, resource }) => ({
    apiGroups: [group],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: [resource],
    scope: '*',
  })),
  sideEffects: 'None',
  timeoutSeconds: 10,
});
