// Strategies of resource.k8s.io. Values are not validated, except that specs of claims are immutable.

import { formatTime, type Instant } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf } from '../../resources/resource.ts';
import { immutable } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { keepMeta } from '../statusMeta.ts';
import { child, copyField, defaultTo, objects, part, text, value } from '../values.ts';

/** A request counts devices, except when it asks for all. */
function defaultRequests(claimSpec: JsonObject | undefined): void {
  for (const request of objects(child(claimSpec, 'devices'), 'requests')) {
    const exact = child(request, 'exactly');
    for (const one of [...(exact ? [exact] : []), ...objects(request, 'firstAvailable')])
      if (['', 'ExactCount'].includes(text(one, 'allocationMode'))) defaultTo(one, 'count', 1);
  }
}

const sameSpec = (next: KubeObject, old: KubeObject) =>
  immutable(value(next, 'spec'), value(old, 'spec'), 'spec');

export const resourceClaimStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  applyDefaults: (claim) => defaultRequests(child(claim, 'spec')),
  prepareForCreate: (claim) => {
    claim['status'] = {};
  },
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validateUpdate: sameSpec,
  subresources: {
    status: {
      prepareForUpdate(next, old) {
        copyField(next, old, 'spec');
        keepMeta(next, old);
      },
    },
  },
};

export const resourceClaimTemplateStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  applyDefaults: (template) => defaultRequests(child(child(template, 'spec'), 'spec')),
  validateUpdate: sameSpec,
};

export const deviceClassStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  generation: true,
};

function stampTaints(slice: KubeObject, now: Instant): void {
  for (const device of objects(specOf(slice), 'devices'))
    for (const taint of objects(device, 'taints')) defaultTo(taint, 'timeAdded', formatTime(now));
}

export const resourceSliceStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  generation: true,
  admit: (slice, _old, { now }) => stampTaints(slice, now),
  validateUpdate: (next, old) =>
    ['driver', 'nodeName']
      .flatMap((field) => immutable(value(specOf(next), field), value(specOf(old), field), `spec.${field}`))
      .concat(
        immutable(
          value(part(specOf(next), 'pool'), 'name'),
          value(part(specOf(old), 'pool'), 'name'),
          'spec.pool.name',
        ),
      ),
};
