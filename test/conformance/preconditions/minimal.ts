// The smallest accepted object of every served kind, by `resource.group`. `{{name}}` is its name.

import type { JsonObject } from '@lapse/kube/api/json';

const selector = { matchLabels: { app: 'a' } };
const podSpec = { containers: [{ name: 'a', image: 'a' }] };
const template = { metadata: { labels: { app: 'a' } }, spec: podSpec };
const jobTemplate = { spec: { ...podSpec, restartPolicy: 'Never' } };
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
const webhook = {
  name: 'hook.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
};
/** Signed with a key that was not kept. */
const CERTIFICATE_REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWE1IOENBUUF3SFRFTk1Bc0dBMVVFQ2d3RWRHVmhiVEVNTUFvR0ExVUVBd3dEWVc1dU1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUV3V2VhejAxZWNZczNQS2cxQVJrNUp1cFBLQTk1MnJGamdnSjJuZ00rCkRyVzRwVU1rRFdYcjZmMklMT3dweTErdUFZNXVKSDB3R0RkRGxqTTl1SnduRUtBQU1Bb0dDQ3FHU000OUJBTUMKQTBnQU1FVUNJRDJVK3hSUHA2MHpmSWRoWlZmbFFJbHpiM01pRnRVNVI0dHZGRHhQUDVJcEFpRUEyaXpDQ241agpsYzBpT0NHL243Qm5rSVUyMWpyOXJLU2dMYjNseE1Jb0UrND0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';
const when = '2024-01-01T00:00:00.000000Z';

/** Everything but apiVersion, kind and metadata. */
export const MINIMAL: Readonly<Record<string, JsonObject>> = {
  configmaps: {},
  endpoints: {},
  events: {
    involvedObject: { kind: 'Pod', namespace: '{{ns}}', name: 'a' },
    reason: 'Testing',
    type: 'Normal',
  },
  limitranges: { spec: { limits: [] } },
  namespaces: {},
  nodes: {},
  persistentvolumeclaims: {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  persistentvolumes: {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/x' } },
  },
  pods: { spec: podSpec },
  podtemplates: { template },
  replicationcontrollers: { spec: { template } },
  resourcequotas: { spec: { hard: { pods: '1' } } },
  secrets: {},
  serviceaccounts: {},
  services: { spec: { ports: [{ port: 80 }] } },
  'apiservices.apiregistration.k8s.io': {
    spec: {
      group: 'kept.example.com',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
      service: { namespace: '{{ns}}', name: 'a' },
    },
  },
  'controllerrevisions.apps': { revision: 1, data: {} },
  'daemonsets.apps': { spec: { selector, template } },
  'deployments.apps': { spec: { selector, template } },
  'replicasets.apps': { spec: { selector, template } },
  'statefulsets.apps': { spec: { serviceName: 'a', selector, template } },
  'events.events.k8s.io': {
    eventTime: when,
    action: 'Testing',
    reason: 'Testing',
    type: 'Normal',
    reportingController: 'example.com/test',
    reportingInstance: 'test-1',
    regarding: { kind: 'Pod', namespace: '{{ns}}', name: 'a' },
  },
  'cronjobs.batch': { spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: jobTemplate } } } },
  'jobs.batch': { spec: { template: jobTemplate } },
  'horizontalpodautoscalers.autoscaling': {
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 1 },
  },
  'certificatesigningrequests.certificates.k8s.io': {
    spec: { request: CERTIFICATE_REQUEST, signerName: 'example.com/a', usages: ['client auth'] },
  },
  'flowschemas.flowcontrol.apiserver.k8s.io': { spec: { priorityLevelConfiguration: { name: 'a' } } },
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  },
  'ingressclasses.networking.k8s.io': { spec: { controller: 'example.com/a' } },
  'ipaddresses.networking.k8s.io': { spec: { parentRef: { resource: 'services', name: 'a' } } },
  'servicecidrs.networking.k8s.io': { spec: { cidrs: ['10.9.0.0/24'] } },
  'runtimeclasses.node.k8s.io': { handler: 'a' },
  'deviceclasses.resource.k8s.io': { spec: {} },
  'resourceclaims.resource.k8s.io': { spec: {} },
  'resourceclaimtemplates.resource.k8s.io': { spec: { spec: {} } },
  'resourceslices.resource.k8s.io': {
    spec: {
      driver: 'example.com',
      nodeName: 'a',
      pool: { name: 'a', generation: 1, resourceSliceCount: 1 },
    },
  },
  'priorityclasses.scheduling.k8s.io': { value: 1 },
  'csistoragecapacities.storage.k8s.io': { storageClassName: 'a' },
  'volumeattributesclasses.storage.k8s.io': { driverName: 'example.com', parameters: { a: 'b' } },
  'ingresses.networking.k8s.io': {
    spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
  },
  'networkpolicies.networking.k8s.io': { spec: { podSelector: {} } },
  'poddisruptionbudgets.policy': { spec: { minAvailable: 1, selector } },
  'clusterrolebindings.rbac.authorization.k8s.io': { roleRef },
  'clusterroles.rbac.authorization.k8s.io': { rules: [] },
  'rolebindings.rbac.authorization.k8s.io': { roleRef },
  'roles.rbac.authorization.k8s.io': { rules: [] },
  'csidrivers.storage.k8s.io': { spec: {} },
  'csinodes.storage.k8s.io': { spec: { drivers: [] } },
  'storageclasses.storage.k8s.io': { provisioner: 'example.com/none' },
  'volumeattachments.storage.k8s.io': {
    spec: { attacher: 'example.com', nodeName: 'a', source: { persistentVolumeName: 'a' } },
  },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': { webhooks: [webhook] },
  'validatingwebhookconfigurations.admissionregistration.k8s.io': { webhooks: [webhook] },
  'validatingadmissionpolicies.admissionregistration.k8s.io': {
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['x.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] },
        ],
      },
      validations: [{ expression: 'true' }],
    },
  },
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': {
    spec: { policyName: 'a', validationActions: ['Deny'] },
  },
  'customresourcedefinitions.apiextensions.k8s.io': {
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: '{{name}}', kind: 'Kept' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  },
  'leases.coordination.k8s.io': { spec: {} },
  'endpointslices.discovery.k8s.io': { addressType: 'IPv4', endpoints: [] },
};

// Kinds with special rules for names.
const NAMES: Readonly<Record<string, string>> = {
  'apiservices.apiregistration.k8s.io': 'v1.kept.example.com',
  'customresourcedefinitions.apiextensions.k8s.io': 'kept.example.com',
  'ipaddresses.networking.k8s.io': '10.9.0.9',
};

export const nameOf = (resource: string): string => NAMES[resource] ?? 'kept';
