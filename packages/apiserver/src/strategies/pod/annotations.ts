// Validation of annotations with a meaning in Kubernetes.

import { type FieldError, forbidden, invalid } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { specOf } from '../../resources/resource.ts';
import { stringMap, text } from '../values.ts';

const MIRROR = 'kubernetes.io/config.mirror';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';

export function validatePodAnnotations(meta: JsonObject, spec: JsonObject, path: string): FieldError[] {
  const annotations = stringMap(meta, 'annotations');
  const errors: FieldError[] = [];
  const [mirror, cost] = [annotations[MIRROR], annotations[DELETION_COST]];
  if (mirror !== undefined && text(spec, 'nodeName') === '') {
    const why = 'must set spec.nodeName if mirror pod annotation is set';
    errors.push(invalid(`${path}[${MIRROR}]`, mirror, why));
  }
  if (cost !== undefined && !isInt32(cost))
    errors.push(invalid(`${path}[${DELETION_COST}]`, cost, 'must be a 32bit integer'));
  return errors;
}

const isInt32 = (digits: string) =>
  /^-?(0|[1-9][0-9]*)$/.test(digits) &&
  Math.abs(Number(digits)) <= 2_147_483_648 &&
  Number(digits) < 2_147_483_648;

/** Mirror and AppArmor annotations can only be set on create. */
export function validateAnnotationChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, then] = [next.metadata.annotations ?? {}, old.metadata.annotations ?? {}];
  const errors: FieldError[] = [];
  const path = 'metadata.annotations';
  const refuse = (key: string, verb: string) => {
    if (key.startsWith(APP_ARMOR))
      errors.push(forbidden(`${path}[${key}]`, `may not ${verb} AppArmor annotations`));
    if (key === MIRROR) errors.push(forbidden(`${path}[${key}]`, `may not ${verb} mirror pod annotation`));
  };
  for (const key of Object.keys(then)) if (now[key] !== then[key]) refuse(key, 'remove or update');
  for (const key of Object.keys(now)) if (!Object.hasOwn(then, key)) refuse(key, 'add');
  const meta = next.metadata as unknown as JsonObject;
  return [...errors, ...validatePodAnnotations(meta, specOf(next), path)];
}
