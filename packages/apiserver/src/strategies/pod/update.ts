// Validation of Pod updates: images, the deadline, tolerations, gates, and few other fields are mutable.

import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import { clone, equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { specOf } from '../../resources/resource.ts';
import { inRange } from '../checks.ts';
import { unifiedDiff } from '../unifiedDiff.ts';
import { assign, child, copyField, number, objects, sortedMap, stringMap, text } from '../values.ts';
import { validateTolerations } from './scheduling.ts';

const MAX_INT32 = 2_147_483_647;

/** Fields named in the error for every other change. */
const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

export function validatePodChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [spec, before] = [specOf(next), specOf(old)];
  const errors: FieldError[] = [];
  for (const list of ['containers', 'initContainers']) {
    const [now, then] = [objects(spec, list), objects(before, list)];
    if (now.length !== then.length)
      return [...errors, forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
    errors.push(...now.flatMap((c, i) => imageErrors(text(c, 'image'), `spec.${list}[${i}].image`)));
  }
  const deadline = number(spec, 'activeDeadlineSeconds');
  const late = deadlineErrors(deadline, number(before, 'activeDeadlineSeconds'));
  errors.push(...late);
  if (late.length > 0 && deadline !== undefined) return errors;
  errors.push(
    ...tolerationErrors(objects(spec, 'tolerations'), objects(before, 'tolerations')),
    ...gateErrors(objects(spec, 'schedulingGates'), objects(before, 'schedulingGates')),
  );
  if (equal(spec, before)) return errors;
  const { munged, gateErrors: more } = withAllowedReverted(spec, before);
  errors.push(...more);
  if (!equal(munged, before)) {
    const diff = unifiedDiff(JSON.stringify(before, bigintText, 1), JSON.stringify(munged, bigintText, 1));
    errors.push(forbidden('spec', `pod updates may not change fields other than ${UPDATABLE}\n${diff}`));
  }
  return errors;
}

const bigintText = (_key: string, v: unknown): unknown => (typeof v === 'bigint' ? Number(v) : v);

function imageErrors(image: string, path: string): FieldError[] {
  if (image === '') return [required(path)];
  return image === image.trim() ? [] : [invalid(path, image, 'must not have leading or trailing whitespace')];
}

function deadlineErrors(now: number | undefined, then: number | undefined): FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  if (now === undefined)
    return then === undefined
      ? []
      : [invalid(path, null, 'must not update from a positive integer to nil value')];
  if (now < 0 || now > MAX_INT32) return [invalid(path, now, inRange(0, MAX_INT32))];
  return then !== undefined && then < now
    ? [invalid(path, now, 'must be less than or equal to previous value')]
    : [];
}

function tolerationErrors(now: JsonObject[], then: JsonObject[]): FieldError[] {
  const without = ({ tolerationSeconds: _seconds, ...rest }: JsonObject) => rest;
  const kept = then.every((t) => now.some((n) => equal(without(t), without(n))));
  const why = 'existing toleration can not be modified except its tolerationSeconds';
  return kept ? validateTolerations(now, 'spec.tolerations') : [forbidden('spec.tolerations', why)];
}

function gateErrors(now: JsonObject[], then: JsonObject[]): FieldError[] {
  const known = then.map((g) => text(g, 'name'));
  return now.flatMap((gate, i) => {
    const name = text(gate, 'name');
    const why = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return known.includes(name) ? [] : [forbidden(`spec.schedulingGates[${i}].name`, why)];
  });
}

/** The new spec with every allowed change reverted: any remaining difference is an error. */
function withAllowedReverted(spec: JsonObject, before: JsonObject) {
  const munged = clone(spec);
  for (const list of ['containers', 'initContainers'])
    objects(munged, list).forEach((c, i) => {
      copyField(c, objects(before, list)[i], 'image');
    });
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'])
    copyField(munged, before, field);
  const grace = 'terminationGracePeriodSeconds';
  if ((number(before, grace) ?? 0) < 0 && number(munged, grace) === 1) copyField(munged, before, grace);
  const gateErrors = objects(before, 'schedulingGates').length > 0 ? revertGated(munged, before) : [];
  return { munged, gateErrors };
}

/** A gated Pod is not scheduled yet: its node selection can still be narrowed. */
function revertGated(munged: JsonObject, before: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const [now, then] = [stringMap(munged, 'nodeSelector'), stringMap(before, 'nodeSelector')];
  const lost = Object.entries(then).filter(([k, v]) => now[k] !== v);
  const why = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  errors.push(...lost.map(() => invalid('spec.nodeSelector', sortedMap(now), why)));
  copyField(munged, before, 'nodeSelector');
  const [affinity, oldAffinity] = [child(munged, 'affinity'), child(before, 'affinity')];
  const [wanted, nodeAffinity] = [child(affinity, 'nodeAffinity'), child(oldAffinity, 'nodeAffinity')];
  if (equal(wanted, nodeAffinity)) return errors;
  const restored: JsonObject = { ...affinity };
  assign(restored, 'nodeAffinity', nodeAffinity);
  assign(munged, 'affinity', Object.keys(restored).length === 0 && !oldAffinity ? undefined : restored);
  return [...errors, ...narrowingErrors(wanted, nodeAffinity)];
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Required terms may get more conditions, but not fewer, and their number is fixed. */
function narrowingErrors(now: JsonObject | undefined, then: JsonObject | undefined): FieldError[] {
  const terms = (affinity: JsonObject | undefined) => objects(child(affinity, REQUIRED), 'nodeSelectorTerms');
  const [wanted, before] = [terms(now), terms(then)];
  const path = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
  if (before.length > 0 && before.length !== wanted.length)
    return [invalid(path, wanted, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  const why = 'only additions are allowed (no mutations or deletions)';
  return before.flatMap((term, i) =>
    onlyAdds(wanted[i]!, term) ? [] : [invalid(`${path}[${i}]`, wanted[i], why)],
  );
}

function onlyAdds(now: JsonObject, then: JsonObject): boolean {
  const count = (term: JsonObject) =>
    objects(term, 'matchExpressions').length + objects(term, 'matchFields').length;
  if (count(then) === 0) return count(now) === 0;
  return ['matchExpressions', 'matchFields'].every((field) => {
    const kept = objects(then, field);
    return equal(objects(now, field).slice(0, kept.length), kept);
  });
}
