// RuntimeClass: its strategy, and the plugin that copies overhead and scheduling of the class into new Pods.

import { forbidden, internal } from '@lapse/kube/api/errors';
import { duplicate, type FieldError, required } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import { checkPathSegment } from '@lapse/kube/api/names';
import type { KubeObject } from '@lapse/kube/api/object';
import { validateLabels } from '../../metadata/validateMeta.ts';
import { type Strategy, type StrategyContext, specOf } from '../../resources/resource.ts';
import { dnsLabel, immutable, metaOf, metaUpdate } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { validateResources } from '../pod/resources.ts';
import { validateTolerations } from '../pod/scheduling.ts';
import { child, has, number, objects, part, stringMap, text, value } from '../values.ts';

function validate(runtimeClass: KubeObject): FieldError[] {
  const handler = text(runtimeClass, 'handler');
  const overhead = child(runtimeClass, 'overhead');
  const scheduling = child(runtimeClass, 'scheduling');
  return [
    ...(handler === '' ? [required('handler')] : dnsLabel(handler, 'handler')),
    ...(overhead ? validateResources({ limits: part(overhead, 'podFixed') }, 'overhead', []) : []),
    ...(scheduling ? validateScheduling(scheduling) : []),
  ];
}

function validateScheduling(scheduling: JsonObject): FieldError[] {
  const tolerations = objects(scheduling, 'tolerations');
  const path = 'scheduling.tolerations';
  const keys = tolerations.map((t) =>
    JSON.stringify(['key', 'operator', 'value', 'effect'].map((f) => text(t, f))),
  );
  return [
    ...validateLabels(stringMap(scheduling, 'nodeSelector'), 'scheduling.nodeSelector'),
    ...validateTolerations(tolerations, path),
    ...tolerations.flatMap((t, i) => (keys.indexOf(keys[i]!) < i ? [duplicate(`${path}[${i}]`, t)] : [])),
  ];
}

export const runtimeClassStrategy: Strategy = {
  nameRule: subdomainName,
  createOnUpdate: true,
  unconditionalUpdate: false,
  validate,
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, false, subdomainName),
    ...validate(next),
    ...metaUpdate(next, old),
    ...immutable(value(next, 'handler'), value(old, 'handler'), 'handler'),
  ],
};

type Refuse = (why: string) => Error;

/** Throws when the Pod names a class that does not exist. */
function classOf(spec: JsonObject, context: StrategyContext, refuse: Refuse): KubeObject | undefined {
  if (!has(spec, 'runtimeClassName')) return undefined;
  const name = text(spec, 'runtimeClassName');
  const found = context.get('runtimeclasses.node.k8s.io', name);
  if (found) return found;
  // The plugin asks the API for the name; some names are not valid in a request.
  if (name === '') throw internal('resource name may not be empty');
  const odd = checkPathSegment(name);
  if (odd.length > 0) throw internal(`invalid resource name "${name}": [${odd.join(' ')}]`);
  throw refuse(`pod rejected: RuntimeClass "${name}" not found`);
}

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

export function setRuntimeClass(spec: JsonObject, context: StrategyContext, refuse: Refuse): void {
  const runtimeClass = classOf(spec, context, refuse);
  const overhead = child(runtimeClass, 'overhead');
  if (overhead) {
    const fixed = part(overhead, 'podFixed');
    const given = part(spec, 'overhead');
    if (Object.keys(given).length > 0 && !equal(given, fixed)) throw refuse(MISMATCH);
    spec['overhead'] = { ...fixed };
  }
  const scheduling = child(runtimeClass, 'scheduling');
  if (scheduling) setScheduling(spec, scheduling, refuse);
}

function setScheduling(spec: JsonObject, scheduling: JsonObject, refuse: Refuse): void {
  const selector = { ...stringMap(spec, 'nodeSelector') };
  for (const [key, wanted] of Object.entries(stringMap(scheduling, 'nodeSelector'))) {
    const given = Object.hasOwn(selector, key) ? selector[key] : undefined;
    if (given !== undefined && given !== wanted)
      throw refuse(
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${wanted}; pod.spec.nodeSelector[${key}] = ${given}`,
      );
    selector[key] = wanted;
  }
  if (Object.keys(selector).length > 0) spec['nodeSelector'] = selector;
  const merged = mergeTolerations([...objects(spec, 'tolerations'), ...objects(scheduling, 'tolerations')]);
  if (merged.length > 0) spec['tolerations'] = merged;
}

/** Without the tolerations that another one includes. */
function mergeTolerations(all: JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = [];
  all.forEach((toleration, i) => {
    const isRedundant =
      merged.some((other) => includes(other, toleration)) ||
      all.slice(i + 1).some((other) => !equal(other, toleration) && includes(other, toleration));
    if (!isRedundant) merged.push(toleration);
  });
  return merged;
}

function includes(outer: JsonObject, inner: JsonObject): boolean {
  if (equal(outer, inner)) return true;
  const [key, operator, effect] = [text(outer, 'key'), text(outer, 'operator'), text(outer, 'effect')];
  if (text(inner, 'key') !== key && (key !== '' || operator !== 'Exists')) return false;
  if (text(inner, 'effect') !== effect && effect !== '') return false;
  const [most, asked] = [number(outer, 'tolerationSeconds'), number(inner, 'tolerationSeconds')];
  if (effect === 'NoExecute' && most !== undefined && (asked === undefined || asked > most)) return false;
  if (operator === 'Exists') return true;
  return text(inner, 'operator') === 'Equal' && text(inner, 'value') === text(outer, 'value');
}

/** Runs after validation: only a runtime class may set the overhead of a Pod. */
export function approveOverhead(
  pod: KubeObject,
  old: KubeObject | undefined,
  context: StrategyContext,
): void {
  if (old) return;
  const spec = specOf(pod);
  const refuse = (why: string) => forbidden({ group: '', plural: 'pods' }, pod.metadata.name ?? '', why);
  const overhead = child(classOf(spec, context, refuse), 'overhead');
  if (overhead && !equal(part(overhead, 'podFixed'), part(spec, 'overhead'))) throw refuse(MISMATCH);
  if (!overhead && has(spec, 'overhead'))
    throw refuse('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
}
