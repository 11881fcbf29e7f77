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
import { replicationControllerStrategy } from './apps/replicationController.ts';
import { statefulSetStrategy } from './apps/statefulSet.ts';
import { v1Codec } from './autoscaling/forms.ts';
import { autoscalerStrategy, autoscalerV1Strategy } from './autoscaling/horizontalPodAutoscaler.ts';
import { cronJobStrategy } from './batch/cronJob.ts';
import { jobStrategy } from './batch/job.ts';
import { signingRequestStrategy } from './certificates/signingRequest.ts';
import { configMapStrategy } from './core/configMap.ts';
import { endpointsStrategy } from './core/endpoints.ts';
import { eventStrategy, modernEventStrategy } from './core/event.ts';
import { modernEventCodec } from './core/eventForms.ts';
import { leaseStrategy } from './core/lease.ts';
import { limitRangeStrategy } from './core/limitRange.ts';
import { namespaceStrategy } from './core/namespace.ts';
import { nodeStrategy } from './core/node.ts';
import { podTemplateStrategy } from './core/podTemplate.ts';
import { resourceQuotaStrategy } from './core/resourceQuota.ts';
import { secretStrategy } from './core/secret.ts';
import { serviceAccountStrategy } from './core/serviceAccount.ts';
import { flowSchemaStrategy } from './flowcontrol/flowSchema.ts';
import { priorityLevelStrategy } from './flowcontrol/priorityLevel.ts';
import { subdomainName } from './names.ts';
import { endpointSliceStrategy } from './network/endpointSlice.ts';
import { ingressStrategy } from './network/ingress.ts';
import { ingressClassStrategy } from './network/ingressClass.ts';
import { networkPolicyStrategy } from './network/networkPolicy.ts';
import { serviceStrategy } from './network/service.ts';
import { ipAddressStrategy, serviceCidrStrategy } from './network/serviceCidr.ts';
import { runtimeClassStrategy } from './node/runtimeClass.ts';
import { withFeatureGates } from './pod/featureGates.ts';
import { podStrategy } from './pod/pod.ts';
import { podDisruptionBudgetStrategy } from './policy/podDisruptionBudget.ts';
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from './rbac/rbac.ts';
import {
  deviceClassStrategy,
  resourceClaimStrategy,
  resourceClaimTemplateStrategy,
  resourceSliceStrategy,
} from './resource/deviceRequests.ts';
import { priorityClassStrategy } from './scheduling/priorityClass.ts';
import { csiDriverStrategy, csiNodeStrategy, volumeAttachmentStrategy } from './storage/csi.ts';
import { csiStorageCapacityStrategy } from './storage/csiStorageCapacity.ts';
import { persistentVolumeStrategy } from './storage/persistentVolume.ts';
import { persistentVolumeClaimStrategy } from './storage/persistentVolumeClaim.ts';
import { storageClassStrategy } from './storage/storageClass.ts';
import { volumeAttributesClassStrategy } from './storage/volumeAttributesClass.ts';

const TEMPLATE = ['spec', 'template', 'spec'];

/** The components of a control plane, which this server does not have: the list is empty. */
const componentStatusStrategy: Strategy = {
  nameRule: subdomainName,
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
};

/** By resource: `jobs.batch`, `pods`; with a version where it differs: `horizontalpodautoscalers.autoscaling/v1`. */
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
  componentstatuses: componentStatusStrategy,
  podtemplates: withFeatureGates(podTemplateStrategy, 'template', 'spec'),
  replicationcontrollers: withFeatureGates(replicationControllerStrategy, ...TEMPLATE),
  'horizontalpodautoscalers.autoscaling': autoscalerStrategy,
  'horizontalpodautoscalers.autoscaling/v1': autoscalerV1Strategy,
  'certificatesigningrequests.certificates.k8s.io': signingRequestStrategy,
  'flowschemas.flowcontrol.apiserver.k8s.io': flowSchemaStrategy,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': priorityLevelStrategy,
  'ingressclasses.networking.k8s.io': ingressClassStrategy,
  'ipaddresses.networking.k8s.io': ipAddressStrategy,
  'servicecidrs.networking.k8s.io': serviceCidrStrategy,
  'runtimeclasses.node.k8s.io': runtimeClassStrategy,
  'deviceclasses.resource.k8s.io': deviceClassStrategy,
  'resourceclaims.resource.k8s.io': resourceClaimStrategy,
  'resourceclaimtemplates.resource.k8s.io': resourceClaimTemplateStrategy,
  'resourceslices.resource.k8s.io': resourceSliceStrategy,
  'priorityclasses.scheduling.k8s.io': priorityClassStrategy,
  'csistoragecapacities.storage.k8s.io': csiStorageCapacityStrategy,
  'volumeattributesclasses.storage.k8s.io': volumeAttributesClassStrategy,
};

const STORED: Strategy = { nameRule: subdomainName };

export const strategyFor = (resource: string, version: string): Strategy =>
  ofVersion(STRATEGIES, resource, version) ?? STORED;

const ofVersion = <T>(table: Readonly<Record<string, T>>, resource: string, version: string): T | undefined =>
  [`${resource}/${version}`, resource].flatMap((key) => (Object.hasOwn(table, key) ? [table[key]!] : []))[0];

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
  'horizontalpodautoscalers.autoscaling/v1': {
    storage: 'horizontalpodautoscalers.autoscaling',
    codec: v1Codec,
    refusedAs: { group: 'autoscaling', kind: 'HorizontalPodAutoscaler' },
  },
};

export const sharedTable = (resource: string, version: string): SharedTable | undefined =>
  ofVersion(SHARED, resource, version);
