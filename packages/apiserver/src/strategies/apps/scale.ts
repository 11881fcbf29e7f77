// The scale subresource of Deployments, ReplicaSets, StatefulSets and ReplicationControllers: their replicas as an
// autoscaling/v1 Scale.

import { conflict, notFound } from '@lapse/kube/api/errors';
import { type FieldError, invalid, invalidError } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { clone, isObject, type Json } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { DecodeError } from '#schema/typed';
import type { Call } from '../../context.ts';
import { checkGvk } from '../../decode/gvk.ts';
import { parseWriteOptions, type WriteOptions } from '../../http/query.ts';
import { objectResponse } from '../../http/respond.ts';
import { keyOf, specOf, statusOf } from '../../resources/resource.ts';
import {
  managedScale,
  recordScaleManager,
  replicasAt,
  scaleAsEndpoint,
} from '../../resources/scaleManagers.ts';
import { bareSelectorText } from '../../tables/selectorText.ts';
import { appliedFields, parseApply } from '../../verbs/apply.ts';
import { matchNamespace } from '../../verbs/create.ts';
import { isApply, parsePatch, patchOptions, patchType, patchVersion } from '../../verbs/patch.ts';
import { matchName, type UpdatePlan, updateObject } from '../../verbs/update.ts';
import { metaOf, nonNegative } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { codecOf, decodeAs, structNameOf } from '../subresource.ts';
import { assign, child, ensure, number } from '../values.ts';

const PATHS = replicasAt(['v1', 'apps/v1', 'apps/v1beta1', 'apps/v1beta2'], 'spec', 'replicas');

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

export const scaleEndpoint: Readonly<Record<string, (call: Call) => Promise<HttpResponse>>> = {
  async GET(call) {
    const stored = call.core.store.get(call.resource.storage, keyOf(call.namespace, call.name!));
    if (!stored) throw notFound(call.resource, call.name!);
    return objectResponse(call, 200, scaleOf(stored.object));
  },
  async PUT(call) {
    const options = parseWriteOptions(call.query, 'UpdateOptions');
    const sent = decodeAs(call, SCALE, options);
    matchName(call, sent);
    matchNamespace(call, sent);
    const plan = planFor(call, options, () => sent);
    const versioned = Boolean(sent.metadata.resourceVersion);
    return updateObject(call, { ...plan, versioned, uid: sent.metadata.uid }, options);
  },
  async PATCH(call) {
    if (isApply(call)) return applyScale(call);
    const type = patchType(call);
    const options = patchOptions(call);
    const change = (live: KubeObject) => {
      const apply = parsePatch(call, type, structNameOf(SCALE));
      return patched(call, options, apply(asJson(live)));
    };
    const plan = planFor(call, options, change);
    return updateObject(call, { ...plan, versioned: patchVersion(call, type) }, options);
  },
};

async function applyScale(call: Call): Promise<HttpResponse> {
  const asScale = { ...call, resource: { ...call.resource, ...SCALE } };
  const request = parseApply(asScale);
  const { options, versioned } = request;
  const change = (live: KubeObject) =>
    patched(asScale, options, appliedFields(asScale, scaleAsEndpoint(), request, live));
  return updateObject(call, { ...planFor(call, options, change, true), versioned }, options);
}

/** `change` makes the wanted Scale from the current one; with managers when it is `tracked`. */
function planFor(
  call: Call,
  { fieldManager }: WriteOptions,
  change: (live: KubeObject) => KubeObject,
  tracked = false,
): Omit<UpdatePlan, 'versioned'> {
  return {
    tracked: true,
    other: {
      kind: { ...SCALE, codec: codecOf(SCALE) },
      show: scaleOf,
      take: (object, scale) => withScale(call, object, scale),
    },
    make(old) {
      const live = managedScale(scaleOf(old), old, PATHS);
      const sent = change(live);
      const next = withScale(call, old, sent);
      recordScaleManager(call, { old, live, sent, fieldManager, tracked }, PATHS, next);
      return next;
    },
  };
}

function withScale(call: Call, old: KubeObject, scale: KubeObject): KubeObject {
  const errors = validateScale(scale);
  if (errors.length > 0) throw invalidError(SCALE, call.name!, errors);
  const { uid, resourceVersion } = scale.metadata;
  if (uid && uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`;
    throw conflict({ group: call.resource.group, plural: `${call.resource.plural}/scale` }, call.name!, why);
  }
  const next = asObject(clone(asJson(old)));
  ensure(next, 'spec')['replicas'] = number(specOf(scale), 'replicas') ?? 0;
  assign(next.metadata as Record<string, unknown>, 'resourceVersion', resourceVersion);
  return next;
}

const validateScale = (scale: KubeObject): FieldError[] => [
  ...metaOf(scale, true, subdomainName),
  ...nonNegative(number(specOf(scale), 'replicas'), 'spec.replicas'),
];

function patched(call: Call, { fieldValidation }: WriteOptions, value: Json): KubeObject {
  const refuse = (why: string) =>
    invalidError({ group: '', kind: '' }, '', [invalid('patch', writeJson(value), why)]);
  if (!isObject(value)) throw refuse('json: cannot unmarshal value into Go value of type v1.Scale');
  try {
    checkGvk(call, value, refuse);
    const { object, problems } = codecOf(SCALE).decode(value);
    if (problems.length > 0 && fieldValidation === 'Strict')
      throw refuse(`strict decoding error: ${problems.join(', ')}`);
    if (fieldValidation === 'Warn') call.warnings.push(...problems.filter((p) => !call.warnings.includes(p)));
    matchName(call, object);
    matchNamespace(call, object);
    return object;
  } catch (cause) {
    if (cause instanceof DecodeError) throw refuse(cause.message);
    throw cause;
  }
}

/** A ReplicationController has a map of labels instead of a selector. */
function selectorOf(object: KubeObject): string {
  const selector = child(specOf(object), 'selector');
  return bareSelectorText(object.kind === 'ReplicationController' ? { matchLabels: selector } : selector);
}

function scaleOf(object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp };
  const replicas = number(specOf(object), 'replicas') ?? 0;
  const selector = selectorOf(object);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, v]) => v !== undefined)),
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: number(statusOf(object), 'replicas') ?? 0,
      ...(selector === '' ? {} : { selector }),
    },
  };
}
