// Tables of the core group, except Pods and volumes, and of Leases.

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  ageOf,
  at,
  condition,
  count,
  flag,
  get,
  NONE,
  nameOf,
  nonEmpty,
  objects,
  quantity,
  text,
  UNKNOWN,
} from './cells.ts';
import type { Cells } from './printer.ts';

const configMapCells: Cells = (object, now) => [
  nameOf(object),
  count(get(object, 'data')) + count(get(object, 'binaryData')),
  ageOf(object, now),
];

const secretCells: Cells = (object, now) => [
  nameOf(object),
  text(get(object, 'type')),
  count(get(object, 'data')),
  ageOf(object, now),
];

const namespaceCells: Cells = (object, now) => [
  nameOf(object),
  text(get(object, 'status', 'phase')),
  ageOf(object, now),
];

const serviceAccountCells: Cells = (object, now) => [nameOf(object), ageOf(object, now)];

const leaseCells: Cells = (object, now) => [
  nameOf(object),
  text(get(object, 'spec', 'holderIdentity')),
  ageOf(object, now),
];

const nodeCells: Cells = (node, now) => {
  const info = get(node, 'status', 'nodeInfo');
  const architecture = text(at(info, 'architecture'));
  return [
    nameOf(node),
    nodeStatus(node),
    nodeRoles(node.metadata.labels ?? {}) || NONE,
    ageOf(node, now),
    text(at(info, 'kubeletVersion')),
    nodeAddress(node, 'InternalIP'),
    nodeAddress(node, 'ExternalIP'),
    nonEmpty(at(info, 'osImage'), UNKNOWN),
    nonEmpty(at(info, 'kernelVersion'), UNKNOWN) + (architecture && ` (${architecture})`),
    nonEmpty(at(info, 'containerRuntimeVersion'), UNKNOWN),
  ];
};

function nodeStatus(node: KubeObject): string {
  // Of several conditions of one type, the last one counts here.
  const ready = objects(get(node, 'status', 'conditions')).findLast((c) => c['type'] === 'Ready');
  const word = ready ? (ready['status'] === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return flag(get(node, 'spec', 'unschedulable')) ? `${word},SchedulingDisabled` : word;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function nodeRoles(labels: Readonly<Record<string, string>>): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels)) {
    if (key.startsWith(ROLE_PREFIX)) roles.add(key.slice(ROLE_PREFIX.length));
    else if (key === 'kubernetes.io/role') roles.add(value);
  }
  roles.delete('');
  return [...roles].sort().join(',');
}

const nodeAddress = (node: KubeObject, type: string): string => {
  const address = objects(get(node, 'status', 'addresses')).find((a) => a['type'] === type);
  return address ? text(address['address']) : NONE;
};

const resourceQuotaCells: Cells = (quota, now) => [
  nameOf(quota),
  quotaUse(quota, (resource) => !isLimit(resource)),
  quotaUse(quota, isLimit),
  ageOf(quota, now),
];

const isLimit = (resource: string): boolean => resource.startsWith('limits.');

function quotaUse(quota: KubeObject, wanted: (resource: string) => boolean): string {
  const hard = (get(quota, 'status', 'hard') ?? {}) as JsonObject;
  const used = (resource: string) => quantity(get(quota, 'status', 'used', resource));
  return Object.keys(hard)
    .sort()
    .filter(wanted)
    .map((resource) => `${resource}: ${used(resource)}/${quantity(hard[resource])}`)
    .join(', ');
}

const componentStatusCells: Cells = (component) => {
  const healthy = objects(get(component, 'conditions')).find((c) => c['type'] === 'Healthy');
  const status = healthy ? (healthy['status'] === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown';
  return [nameOf(component), status, text(healthy?.['message']), text(healthy?.['error'])];
};

const apiServiceCells: Cells = (object, now) => {
  const service = get(object, 'spec', 'service');
  return [
    nameOf(object),
    service ? `${text(at(service, 'namespace'))}/${text(at(service, 'name'))}` : 'Local',
    availability(condition(object, 'Available')),
    ageOf(object, now),
  ];
};

function availability(available: JsonObject | undefined): string {
  if (!available) return 'Unknown';
  const status = text(available['status']);
  const reason = text(available['reason']);
  return status !== 'True' && reason !== '' ? `${status} (${reason})` : status;
}

export const CORE_KINDS: Readonly<Record<string, Cells>> = {
  configmaps: configMapCells,
  secrets: secretCells,
  namespaces: namespaceCells,
  serviceaccounts: serviceAccountCells,
  nodes: nodeCells,
  resourcequotas: resourceQuotaCells,
  componentstatuses: componentStatusCells,
  'leases.coordination.k8s.io': leaseCells,
  'apiservices.apiregistration.k8s.io': apiServiceCells,
};
