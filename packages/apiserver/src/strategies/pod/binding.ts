// POST pods/NAME/binding: the scheduler assigns a Pod to a node.

import type { Instant } from '@lapse/base/instant';
import { badRequest, conflict, internal, notFound } from '@lapse/kube/api/errors';
import { type FieldError, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { clone } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import type { Call } from '../../context.ts';
import { parseWriteOptions } from '../../http/query.ts';
import { keyOf, specOf } from '../../resources/resource.ts';
import { RevisionMismatch } from '../../store/store.ts';
import { admitAs, createdStatus, decodeAs } from '../subresource.ts';
import { assign, ensure, objects, part, text } from '../values.ts';
import { setPodCondition } from './conditions.ts';

const BINDING = { group: '', version: 'v1', kind: 'Binding' };
const PODS = { group: '', plural: 'pods' };

export async function bindPod(call: Call): Promise<HttpResponse> {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  const sent = decodeAs(call, BINDING, options);
  if (sent.metadata.name !== call.name) throw badRequest('name in URL does not match name in Binding object');
  const binding = await admitAs(call, BINDING, sent, options.dryRun);
  const errors = validateBinding(binding);
  if (errors.length > 0) throw internal(aggregate(errors));
  for (;;) {
    try {
      await bindOnce(call, binding, options.dryRun);
      return createdStatus(call);
    } catch (cause) {
      if (!(cause instanceof RevisionMismatch)) throw cause;
    }
  }
}

function validateBinding(binding: KubeObject): FieldError[] {
  const target = part(binding, 'target');
  const kind = text(target, 'kind');
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(text(target, 'name') === '' ? [required('target.name')] : []),
  ];
}

/** Several errors in one text, as Kubernetes joins errors that are not a Status. */
function aggregate(errors: readonly FieldError[]): string {
  const texts = errors.map((e) => `${e.field}: ${e.message}`);
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}

async function bindOnce(call: Call, binding: KubeObject, dryRun: boolean): Promise<void> {
  const { core, resource, namespace, name } = call;
  const head = core.store.getHead(resource.storage, keyOf(namespace, name!));
  if (!head) throw notFound(PODS, name!);
  checkPreconditions(call, binding, head.object);
  const obstacle = obstacleTo(head.object);
  if (obstacle) throw conflict({ group: '', plural: 'pods/binding' }, name!, obstacle);
  const pod = asObject(clone(asJson(head.object)));
  assignNode(pod, binding, core.clock.now());
  if (!dryRun) await core.store.put(resource.storage, head.key, head.revision, pod);
}

function checkPreconditions(call: Call, binding: KubeObject, pod: KubeObject): void {
  const wanted = binding.metadata;
  const check = (label: string, asked: string | undefined, actual: string | undefined) => {
    if (!asked || asked === actual) return;
    const key = `/registry/pods/${keyOf(call.namespace, call.name!)}`;
    const detail = `Precondition failed: ${label} in precondition: ${asked}, ${label} in object meta: ${actual}`;
    const text = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
    throw conflict(PODS, call.name!, text);
  };
  check('UID', wanted.uid, pod.metadata.uid);
  check('ResourceVersion', wanted.resourceVersion, pod.metadata.resourceVersion);
}

function obstacleTo(pod: KubeObject): string | undefined {
  const { name, deletionTimestamp } = pod.metadata;
  const node = text(specOf(pod), 'nodeName');
  if (deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (node !== '') return `pod ${name} is already assigned to node "${node}"`;
  if (objects(specOf(pod), 'schedulingGates').length > 0)
    return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}

function assignNode(pod: KubeObject, binding: KubeObject, now: Instant): void {
  ensure(pod, 'spec')['nodeName'] = text(part(binding, 'target'), 'name');
  const status = ensure(pod, 'status');
  assign(status, 'nominatedNodeName', undefined);
  const { annotations, labels } = binding.metadata;
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
  if (labels) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
  setPodCondition(status, { type: 'PodScheduled', status: 'True' }, now);
}
