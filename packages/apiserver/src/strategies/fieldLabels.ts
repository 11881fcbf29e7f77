// Field selectors of built-in kinds besides metadata.name and metadata.namespace.

import type { KubeObject } from '@lapse/kube/api/object';
import { specOf, statusOf } from '../resources/resource.ts';
import { flag, number, objects, part, text } from './values.ts';

export interface SelectableFields {
  readonly labels: readonly string[];
  /** Values by label, for the object in the requested version. */
  values(object: KubeObject): Record<string, string>;
  /** The error for other labels, where it differs from the usual one. */
  unsupported?(label: string): string;
}

type Values = Readonly<Record<string, (object: KubeObject) => string>>;

const fields = (values: Values): SelectableFields => ({
  labels: Object.keys(values),
  values: (object) =>
    Object.fromEntries(Object.entries(values).map(([label, read]) => [label, read(object)])),
});

const spec = (name: string) => (object: KubeObject) => text(specOf(object), name);
const status = (name: string) => (object: KubeObject) => text(statusOf(object), name);
const own = (name: string) => (object: KubeObject) => text(object, name);

const podIp = (pod: KubeObject) => text(objects(statusOf(pod), 'podIPs')[0], 'ip');

const POD: Values = {
  'spec.nodeName': spec('nodeName'),
  'spec.host': spec('nodeName'),
  'spec.restartPolicy': spec('restartPolicy'),
  'spec.schedulerName': spec('schedulerName'),
  'spec.serviceAccountName': spec('serviceAccountName'),
  'spec.hostNetwork': (pod) => String(flag(specOf(pod), 'hostNetwork') ?? false),
  'status.phase': status('phase'),
  'status.podIP': podIp,
  // Accepted but never matches: kube-apiserver keeps no value for it.
  'status.podIPs': () => '',
  'status.nominatedNodeName': status('nominatedNodeName'),
};

const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
const references = (prefix: string): Values =>
  Object.fromEntries(REFERENCE.map((f) => [`${prefix}.${f}`, (event) => text(part(event, prefix), f)]));

const EVENT: Values = {
  ...references('involvedObject'),
  reason: own('reason'),
  reportingComponent: own('reportingComponent'),
  source: (event) => text(part(event, 'source'), 'component') || text(event, 'reportingComponent'),
  type: own('type'),
};

const MODERN_EVENT: Values = {
  ...references('regarding'),
  reason: own('reason'),
  reportingController: own('reportingController'),
  type: own('type'),
};

const NONE: SelectableFields = { labels: [], values: () => ({}) };

/** By resource: `jobs.batch`, `pods`. */
const FIELDS: Readonly<Record<string, SelectableFields>> = {
  pods: fields(POD),
  nodes: fields({ 'spec.unschedulable': (node) => String(flag(specOf(node), 'unschedulable') ?? false) }),
  namespaces: fields({ 'status.phase': status('phase') }),
  secrets: fields({ type: own('type') }),
  services: fields({ 'spec.clusterIP': spec('clusterIP'), 'spec.type': spec('type') }),
  events: fields(EVENT),
  'events.events.k8s.io': fields(MODERN_EVENT),
  replicationcontrollers: fields({
    'status.replicas': (controller) => String(number(statusOf(controller), 'replicas') ?? 0),
  }),
  'certificatesigningrequests.certificates.k8s.io': fields({ 'spec.signerName': spec('signerName') }),
  'resourceslices.resource.k8s.io': fields({
    'spec.nodeName': spec('nodeName'),
    'spec.driver': spec('driver'),
  }),
  'jobs.batch': {
    ...fields({ 'status.successful': (job) => String(number(statusOf(job), 'succeeded') ?? 0) }),
    unsupported: (label) => `field label "${label}" not supported for Job`,
  },
};

export const fieldsOf = (resource: string): SelectableFields =>
  Object.hasOwn(FIELDS, resource) ? FIELDS[resource]! : NONE;
