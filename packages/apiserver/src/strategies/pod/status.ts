// Validation of the Pod status that kubelets write through /status.

import { parseSloppyAddress } from '@lapse/base/ipAddress';
import { type FieldError, forbidden, internalError, invalid } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { specOf, statusOf, type UpdateStrategy } from '../../resources/resource.ts';
import { legacyAddress } from '../addresses.ts';
import { check, immutable, metaUpdate, qualifiedName } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { assign, child, copyField, ensure, list, number, objects, text, value } from '../values.ts';
import { validateAnnotationChange } from './annotations.ts';
import { dropGatedStatus, validateDevices } from './statusClaims.ts';

export const podStatusStrategy: UpdateStrategy = {
  prepareForUpdate(next, old) {
    copyField(next, old, 'spec');
    const [to, from] = [next.metadata as Record<string, unknown>, old.metadata as Record<string, unknown>];
    copyField(to, from, 'deletionTimestamp');
    copyField(to, from, 'ownerReferences');
    const status = ensure(next, 'status');
    if (text(status, 'qosClass') === '') copyField(status, statusOf(old), 'qosClass');
    keepObservedGeneration(status, statusOf(old));
    dropGatedStatus(status);
  },
  validatesMeta: true,
  validateUpdate: validateStatus,
};

/** A client that does not know observedGeneration does not remove it. */
function keepObservedGeneration(status: JsonObject, before: JsonObject): void {
  if ((number(status, 'observedGeneration') ?? 0) === 0) copyField(status, before, 'observedGeneration');
  const old = objects(before, 'conditions');
  for (const condition of objects(status, 'conditions')) {
    if ((number(condition, 'observedGeneration') ?? 0) !== 0) continue;
    const same = old.find((c) => text(c, 'type') === text(condition, 'type'));
    assign(condition, 'observedGeneration', number(same, 'observedGeneration'));
  }
}

const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

function validateStatus(next: KubeObject, old: KubeObject): FieldError[] {
  const [status, before] = [statusOf(next), statusOf(old)];
  return [
    ...metaUpdate(next, old),
    ...validateAnnotationChange(next, old),
    ...objects(status, 'conditions').flatMap((condition, i) =>
      conditionErrors(condition, `status.conditions[${i}]`),
    ),
    ...nominationErrors(text(status, 'nominatedNodeName'), text(before, 'nominatedNodeName'), old),
    ...((number(status, 'observedGeneration') ?? 0) < 0
      ? [
          invalid(
            'status.observedGeneration',
            value(status, 'observedGeneration'),
            'must be a non-negative integer',
          ),
        ]
      : []),
    ...immutable(value(status, 'qosClass'), value(before, 'qosClass'), 'status.qosClass'),
    ...transitionErrors(status, before, specOf(old)),
    ...validateDevices(status, specOf(next)),
    ...addressErrors(status, 'podIPs'),
    ...hostAddressErrors(status),
    ...addressErrors(status, 'hostIPs'),
  ];
}

function conditionErrors(condition: JsonObject, path: string): FieldError[] {
  const generation = number(condition, 'observedGeneration') ?? 0;
  return [
    ...(generation < 0
      ? [invalid(`${path}.observedGeneration`, generation, 'must be a non-negative integer')]
      : []),
    ...(SYSTEM_CONDITIONS.includes(text(condition, 'type'))
      ? []
      : qualifiedName(text(condition, 'type'), `${path}.Type`)),
  ];
}

function nominationErrors(now: string, then: string, old: KubeObject): FieldError[] {
  const path = 'status.nominatedNodeName';
  if (now === '' || now === then) return [];
  const bound = text(specOf(old), 'nodeName') !== '';
  return [
    ...check(subdomainName, now, path),
    ...(bound ? [forbidden(path, 'may not be set on pods that are already bound to a node')] : []),
  ];
}

const isTerminated = (status: JsonObject) => child(child(status, 'state'), 'terminated');

/** A terminated container stays terminated, except when its restart policy restarts it. */
function transitionErrors(status: JsonObject, before: JsonObject, spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const kinds = [
    ['containerStatuses', 'containers'],
    ['initContainerStatuses', 'initContainers'],
    ['ephemeralContainerStatuses', ''],
  ] as const;
  for (const [field, containers] of kinds) {
    objects(before, field).forEach((then, i) => {
      const ended = isTerminated(then);
      const now = objects(status, field).find((s) => text(s, 'name') === text(then, 'name'));
      if (!ended || !now || isTerminated(now)) return;
      const container = objects(spec, containers).find((c) => text(c, 'name') === text(then, 'name'));
      if (containers !== '' && mayRestart(container, spec, number(ended, 'exitCode') ?? 0)) return;
      const why = 'may not be transitioned to non-terminated state';
      errors.push(forbidden(`status.${field}[${i}].state`, why));
    });
  }
  return errors;
}

function mayRestart(container: JsonObject | undefined, spec: JsonObject, exitCode: number): boolean {
  for (const rule of objects(container, 'restartPolicyRules')) {
    const codes = child(rule, 'exitCodes');
    const listed = list(codes, 'values').map(Number).includes(exitCode);
    if (text(codes, 'operator') === 'In' ? listed : !listed) return true;
  }
  const policy = text(container, 'restartPolicy') || text(spec, 'restartPolicy');
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

function hostAddressErrors(status: JsonObject): FieldError[] {
  const first = objects(status, 'hostIPs')[0];
  if (!first || text(first, 'ip') === text(status, 'hostIP')) return [];
  return [invalid('status.hostIPs[0].ip', text(first, 'ip'), 'must be equal to `hostIP`')];
}

/** At most one address of each family. */
function addressErrors(status: JsonObject, field: string): FieldError[] {
  const addresses = objects(status, field).map((ip) => text(ip, 'ip'));
  const errors = addresses.flatMap((ip, i) => legacyAddress(ip, `status.${field}[${i}]`));
  if (addresses.length < 2) return errors;
  const odd = addresses.findIndex((ip) => parseSloppyAddress(ip) === undefined);
  if (odd >= 0) {
    const why = `failed to check for dual stack with error:invalid IP[${odd}]: ${addresses[odd]}`;
    errors.push(internalError(`status.${field}`, why));
  }
  const families = new Set(addresses.map((ip) => parseSloppyAddress(ip)?.family));
  if (odd >= 0 || addresses.length > 2 || families.size < 2) {
    const why = 'may specify no more than one IP for each IP family';
    // As printed from the internal type.
    const shown = addresses.map((IP) => ({ IP }));
    errors.push(invalid(`status.${field}`, shown, why));
  }
  return errors;
}
