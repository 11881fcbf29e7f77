// The strategy of each built-in kind. For other kinds only the types are validated, not the values.

import { apiServiceStrategy } from '../aggregation/strategy.ts';
import { crdStrategy } from '../crd/crdStrategy.ts';
import type { Codec, Strategy } from '../resources/resource.ts';
import {
  validatingAdmissionPolicyBindingStrategy,
  validatingAdmissionPolicyStrategy,
} from './admission/policies.ts';
import { mutatingWebhookStrategy, validatingWebhookStrategy } from './admission/webhooks.ts';
import { controllerRevisionStrategy, daemonSetStrategy } from './apps/daemonSet.ts';
import { deploymentStrategy, replicaSetStrategy } from './apps/deployment.ts';
import { statefulSetStrategy } from './apps/statefulSet.ts';
import { cronJobStrategy } from './batch/cronJob.ts';
import { jobStrategy } from './batch/job.ts';
import { configMapStrategy } from './core/configMap.ts';
import { endpointsStrategy } from './core/endpoints.ts';
import { eventStrategy, modernEventStrategy } from './core/event.ts';
import { modernEventCodec } from './core/eventForms.ts';
import { leaseStrategy } from './core/lease.ts';
import { limitRangeStrategy } from './core/limitRange.ts';
import { namespaceStrategy } from './core/namespace.ts';
import { nodeStrategy } from './core/node.ts';
import { resourceQuotaStrategy } from './core/resourceQuota.ts';
import { secretStrategy } from './core/secret.ts';
import { serviceAccountStrategy } from './core/serviceAccount.ts';
import { subdomainName } from './names.ts';
import { endpointSliceStrategy } from './network/endpointSlice.ts';
import { ingressStrategy } from './network/ingress.ts';
import { networkPolicyStrategy } from './network/networkPolicy.ts';
import { serviceStrategy } from './network/service.ts';
import { withFeatureGates } from './pod/featureGates.ts';
import { podStrategy } from './pod/pod.ts';
import { podDisruptionBudgetStrategy } from './policy/podDisruptionBudget.ts';
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from './rbac/rbac.ts';
import { csiDriverStrategy, csiNodeStrategy, volumeAttachmentStrategy } from './storage/csi.ts';
import { persistentVolumeStrategy } from './storage/persistentVolume.ts';
import { persistentVolumeClaimStrategy } from './storage/persistentVolumeClaim.ts';
import { storageClassStrategy } from './storage/storageClass.ts';

const TEMPLATE = ['spec', 'template', 'spec'];

/** By resource: `jobs.batch`, `pods`. */
const STRATEGIES: Readonly<Record<string, Strategy>> = {
  'apiservices.apiregistration.k8s.io': apiServiceStrategy,
  configmaps: configMapStrategy,
  'controllerrevisions.apps': controllerRevisionStrategy,
  'daemonsets.apps': withFeatureGates(daemonSetStrategy, ...TEMPLATE),
  'deployments.apps': withFeatureGates(deploymentStrategy, ...TEMPLATE),
  'replicasets.apps': withFeatureGates(replicaSetStrategy, ...TEMPLATE),
  'statefulsets.apps': withFeatureGates(statefulSetStrategy, ...TEMPLATE),
  'customresourcedefinitions.apiextensions.k8s.io': crdStrategy,
  endpoints: endpointsStrategy,
  'endpointslices.discovery.k8s.io': endpointSliceStrategy,
  events: eventStrategy,
  'events.events.k8s.io': modernEventStrategy,
  'cronjobs.batch': withFeatureGates(cronJobStrategy, 'spec', 'jobTemplate', ...TEMPLATE),
  'jobs.batch': withFeatureGates(jobStrategy, ...TEMPLATE),
  'leases.coordination.k8s.io': leaseStrategy,
  limitranges: limitRangeStrategy,
  namespaces: namespaceStrategy,
  nodes: nodeStrategy,
  'csidrivers.storage.k8s.io': csiDriverStrategy,
  'csinodes.storage.k8s.io': csiNodeStrategy,
  persistentvolumeclaims: persistentVolumeClaimStrategy,
  persistentvolumes: persistentVolumeStrategy,
  'storageclasses.storage.k8s.io': storageClassStrategy,
  'volumeattachments.storage.k8s.io': volumeAttachmentStrategy,
  'ingresses.networking.k8s.io': ingressStrategy,
  'networkpolicies.networking.k8s.io': networkPolicyStrategy,
  'poddisruptionbudgets.policy': podDisruptionBudgetStrategy,
  'clusterrolebindings.rbac.authorization.k8s.io': clusterRoleBindingStrategy,
  'clusterroles.rbac.authorization.k8s.io': clusterRoleStrategy,
  'rolebindings.rbac.authorization.k8s.io': roleBindingStrategy,
  'roles.rbac.authorization.k8s.io': roleStrategy,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': mutatingWebhookStrategy,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': validatingWebhookStrategy,
  'validatingadmissionpolicies.admissionregistration.k8s.io': validatingAdmissionPolicyStrategy,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': validatingAdmissionPolicyBindingStrategy,
  pods: withFeatureGates(podStrategy, 'spec'),
  resourcequotas: resourceQuotaStrategy,
  secrets: secretStrategy,
  serviceaccounts: serviceAccountStrategy,
  services: serviceStrategy,
};

const STORED: Strategy = { nameRule: subdomainName };

export const strategyFor = (resource: string): Strategy =>
  Object.hasOwn(STRATEGIES, resource) ? STRATEGIES[resource]! : STORED;

/** A resource that shows the objects of another one: its storage, codec and kind in errors. */
export interface SharedTable {
  readonly storage: string;
  codec(own: Codec): Codec;
  readonly refusedAs: { readonly group: string; readonly kind: string };
}

const SHARED: Readonly<Record<string, SharedTable>> = {
  'events.events.k8s.io': {
    storage: 'events',
    codec: modernEventCodec,
    refusedAs: { group: '', kind: 'Event' },
  },
};

export const sharedTable = (resource: string): SharedTable | undefined =>
  Object.hasOwn(SHARED, resource) ? SHARED[resource] : undefined;
