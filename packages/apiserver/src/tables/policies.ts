// Tables of classes, flow control, certificate requests and device claims.

import { instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { formatAge } from './age.ts';
import {
  ageOf,
  at,
  condition,
  flag,
  get,
  int,
  isDeleted,
  list,
  NONE,
  nameOf,
  objects,
  text,
  textOr,
} from './cells.ts';
import type { Cells } from './printer.ts';

const priorityClassCells: Cells = (object, now) => [
  nameOf(object),
  int(get(object, 'value')),
  flag(get(object, 'globalDefault')),
  ageOf(object, now),
  text(get(object, 'preemptionPolicy')),
];

const runtimeClassCells: Cells = (object, now) => [
  nameOf(object),
  text(get(object, 'handler')),
  ageOf(object, now),
];

const flowSchemaCells: Cells = (schema, now) => [
  nameOf(schema),
  text(get(schema, 'spec', 'priorityLevelConfiguration', 'name')),
  int(get(schema, 'spec', 'matchingPrecedence')),
  textOr(get(schema, 'spec', 'distinguisherMethod', 'type'), NONE),
  ageOf(schema, now),
  textOr(condition(schema, 'Dangling')?.['status'], '?'),
];

const priorityLevelCells: Cells = (level, now) => {
  const limited = get(level, 'spec', 'limited');
  const queuing = at(limited, 'limitResponse', 'queuing');
  return [
    nameOf(level),
    text(get(level, 'spec', 'type')),
    limited ? int(at(limited, 'nominalConcurrencyShares')) : NONE,
    ...['queues', 'handSize', 'queueLengthLimit'].map((field) => (queuing ? int(at(queuing, field)) : NONE)),
    ageOf(level, now),
  ];
};

const certificateRequestCells: Cells = (request, now) => {
  const seconds = get(request, 'spec', 'expirationSeconds');
  return [
    nameOf(request),
    ageOf(request, now),
    text(get(request, 'spec', 'signerName')) || NONE,
    text(get(request, 'spec', 'username')),
    seconds === undefined ? NONE : formatAge(now, instant(now + Number(int(seconds)) * 1000)),
    certificateStatus(request),
  ];
};

function certificateStatus(request: KubeObject): string {
  const types = objects(get(request, 'status', 'conditions')).map((c) => c['type']);
  const decision = ['Denied', 'Approved'].find((type) => types.includes(type)) ?? 'Pending';
  const failed = types.includes('Failed') ? ',Failed' : '';
  return decision + failed + (text(get(request, 'status', 'certificate')) === '' ? '' : ',Issued');
}

const nameAndAge: Cells = (object, now) => [nameOf(object), ageOf(object, now)];

const resourceClaimCells: Cells = (claim, now) => [nameOf(claim), claimState(claim), ageOf(claim, now)];

function claimState(claim: KubeObject): string {
  const deleted = isDeleted(claim) ? ['deleted'] : [];
  if (get(claim, 'status', 'allocation') === undefined) return deleted[0] ?? 'pending';
  const reserved = list(get(claim, 'status', 'reservedFor')).length > 0 ? ['reserved'] : [];
  return [...deleted, 'allocated', ...reserved].join(',');
}

const resourceSliceCells: Cells = (slice, now) => [
  nameOf(slice),
  text(get(slice, 'spec', 'nodeName')),
  text(get(slice, 'spec', 'driver')),
  text(get(slice, 'spec', 'pool', 'name')),
  ageOf(slice, now),
];

export const POLICIES: Readonly<Record<string, Cells>> = {
  'priorityclasses.scheduling.k8s.io': priorityClassCells,
  'runtimeclasses.node.k8s.io': runtimeClassCells,
  'flowschemas.flowcontrol.apiserver.k8s.io': flowSchemaCells,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': priorityLevelCells,
  'certificatesigningrequests.certificates.k8s.io': certificateRequestCells,
  'deviceclasses.resource.k8s.io': nameAndAge,
  'resourceclaimtemplates.resource.k8s.io': nameAndAge,
  'resourceclaims.resource.k8s.io': resourceClaimCells,
  'resourceslices.resource.k8s.io': resourceSliceCells,
};
