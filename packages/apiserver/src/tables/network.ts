// Tables of Services, endpoints, Ingresses and related kinds.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  ageOf,
  at,
  firstThree,
  get,
  int,
  list,
  NONE,
  nameOf,
  objects,
  text,
  textOr,
  texts,
  UNSET,
} from './cells.ts';
import type { Cells } from './printer.ts';
import { labelsText, selectorText } from './selectorText.ts';

const serviceCells: Cells = (service, now) => {
  const [clusterIp] = texts(get(service, 'spec', 'clusterIPs'));
  return [
    nameOf(service),
    text(get(service, 'spec', 'type')),
    clusterIp ?? NONE,
    externalIp(service),
    objects(get(service, 'spec', 'ports'))
      .map(portText)
      .join(',') || NONE,
    ageOf(service, now),
    labelsText(get(service, 'spec', 'selector')),
  ];
};

function portText(port: JsonObject): string {
  const number = int(port['port']);
  const nodePort = int(port['nodePort']);
  return `${nodePort > 0 ? `${number}:${nodePort}` : number}/${text(port['protocol'])}`;
}

function externalIp(service: KubeObject): string {
  const external = texts(get(service, 'spec', 'externalIPs'));
  switch (get(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || NONE;
    case 'LoadBalancer':
      return [...loadBalancerAddresses(service), ...external].join(',') || '<pending>';
    case 'ExternalName':
      return text(get(service, 'spec', 'externalName'));
    default:
      return '<unknown>';
  }
}

/** Addresses in order, each once. */
function loadBalancerAddresses(object: KubeObject): string[] {
  const points = objects(get(object, 'status', 'loadBalancer', 'ingress'));
  const addresses = points.map((point) => text(point['ip']) || text(point['hostname']));
  return [...new Set(addresses.filter((address) => address !== ''))].sort();
}

const ingressCells: Cells = (ingress, now) => [
  nameOf(ingress),
  textOr(get(ingress, 'spec', 'ingressClassName'), NONE),
  hosts(objects(get(ingress, 'spec', 'rules'))),
  loadBalancerAddresses(ingress).join(','),
  list(get(ingress, 'spec', 'tls')).length > 0 ? '80, 443' : '80',
  ageOf(ingress, now),
];

// Rules without a host are not among the three that are shown, but count as omitted ones.
function hosts(rules: readonly JsonObject[]): string {
  const shown: string[] = [];
  for (const rule of rules) {
    if (shown.length === 3) return `${shown.join(',')} + ${rules.length - 3} more...`;
    const host = text(rule['host']);
    if (host !== '') shown.push(host);
  }
  return shown.join(',') || '*';
}

const networkPolicyCells: Cells = (policy, now) => [
  nameOf(policy),
  selectorText(get(policy, 'spec', 'podSelector')),
  ageOf(policy, now),
];

const endpointsCells: Cells = (endpoints, now) => {
  const subsets = objects(get(endpoints, 'subsets'));
  return [
    nameOf(endpoints),
    subsets.length === 0 ? NONE : firstThree(subsets.flatMap(subsetAddresses)),
    ageOf(endpoints, now),
  ];
};

function subsetAddresses(subset: JsonObject): string[] {
  const addresses = objects(subset['addresses']).map((address) => text(address['ip']));
  const ports = objects(subset['ports']);
  if (ports.length === 0) return addresses;
  return ports.flatMap((port) => addresses.map((ip) => hostPort(ip, int(port['port']))));
}

const hostPort = (ip: string, port: Json): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

const endpointSliceCells: Cells = (slice, now) => {
  const addresses = objects(get(slice, 'endpoints')).flatMap((endpoint) => texts(endpoint['addresses']));
  const ports = objects(get(slice, 'ports')).map(slicePort);
  return [
    nameOf(slice),
    text(get(slice, 'addressType')),
    firstThree(ports) || UNSET,
    firstThree(addresses) || UNSET,
    ageOf(slice, now),
  ];
};

const slicePort = (port: JsonObject): string => {
  const number = at(port, 'port');
  return number === undefined ? textOr(port['name'], '*') : String(int(number));
};

const ingressClassCells: Cells = (object, now) => {
  const isDefault = object.metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';
  const parameters = get(object, 'spec', 'parameters');
  const group = at(parameters, 'apiGroup');
  const kind = `${text(at(parameters, 'kind'))}${group === undefined ? '' : `.${text(group)}`}`;
  return [
    nameOf(object) + (isDefault ? ' (default)' : ''),
    text(get(object, 'spec', 'controller')),
    parameters === undefined ? NONE : `${kind}/${text(at(parameters, 'name'))}`,
    ageOf(object, now),
  ];
};

/** kube-apiserver prints an age, which has no column. */
const ipAddressCells: Cells = (object, now) => [nameOf(object), parentText(object), ageOf(object, now)];

function parentText(object: KubeObject): string {
  const parent = get(object, 'spec', 'parentRef');
  if (parent === undefined) return NONE;
  const group = text(at(parent, 'group'));
  const resource = text(at(parent, 'resource')) + (group && `.${group}`);
  const parts = [resource.toLowerCase(), text(at(parent, 'namespace')), text(at(parent, 'name'))];
  return parts.filter((part, i) => i !== 1 || part !== '').join('/');
}

const serviceCidrCells: Cells = (object, now) => [
  nameOf(object),
  texts(get(object, 'spec', 'cidrs')).join(','),
  ageOf(object, now),
];

export const NETWORK: Readonly<Record<string, Cells>> = {
  services: serviceCells,
  endpoints: endpointsCells,
  'endpointslices.discovery.k8s.io': endpointSliceCells,
  'ingresses.networking.k8s.io': ingressCells,
  'ingressclasses.networking.k8s.io': ingressClassCells,
  'ipaddresses.networking.k8s.io': ipAddressCells,
  'networkpolicies.networking.k8s.io': networkPolicyCells,
  'servicecidrs.networking.k8s.io': serviceCidrCells,
};
