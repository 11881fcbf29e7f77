// Admission of a write. NamespaceLifecycle is built in. In-process functions see every write in the form of
// admission.k8s.io/v1, so the same function can serve as a webhook of a real cluster.

import type { AdmissionFunction, AdmissionRequest, AdmissionResponse } from '@lapse/kube/api/admission';
import { alreadyExists, forbidden, notFound } from '@lapse/kube/api/errors';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { type Admission, type Call, namespaceOf, strategyContext } from '../context.ts';
import { checkDeadline, withinDeadline } from '../http/deadline.ts';
import { restoreManagers } from '../metadata/managedFields.ts';
import { runPolicies } from './policies/policies.ts';
import { hasPolicies } from './policies/policy.ts';
import { runWebhooks } from './webhooks/webhooks.ts';
import type { Write } from './write.ts';

export type { AdmissionFunction } from '@lapse/kube/api/admission';

export class AdmissionChain implements Admission {
  readonly #functions: AdmissionFunction[] = [];

  /** Returns a function that unregisters `fn`. */
  register(fn: AdmissionFunction): () => void {
    this.#functions.push(fn);
    return () => {
      const i = this.#functions.indexOf(fn);
      if (i >= 0) this.#functions.splice(i, 1);
    };
  }

  /** The object after the mutating functions. */
  async mutate(call: Call, write: Write): Promise<KubeObject | undefined> {
    checkNamespace(call, write);
    const { object, old, dryRun } = write;
    const admit = (one: KubeObject | undefined) => {
      if (one && !call.subresource) call.resource.strategy.admit?.(one, old, strategyContext(call, dryRun));
    };
    admit(object);
    const managers = object?.metadata.managedFields;
    const mutated = await this.#run(call, write, 'mutating');
    if (mutated === undefined || mutated === object) return mutated;
    // Checks the object again after other functions changed it.
    admit(mutated);
    const warning = restoreManagers(mutated, managers);
    if (warning !== undefined) call.warnings.push(warning);
    return mutated;
  }

  async validate(call: Call, write: Write): Promise<void> {
    const { object, old, dryRun } = write;
    const { strategy } = call.resource;
    const written = call.subresource ? strategy.subresources?.[call.subresource] : strategy;
    if (object) written?.approve?.(object, old, strategyContext(call, dryRun));
    if (hasPolicies(call.core.store)) await runPolicies(call, write);
    await this.#run(call, write, 'validating');
    checkDeadline(call);
  }

  async #run(call: Call, write: Write, phase: AdmissionFunction['phase']): Promise<KubeObject | undefined> {
    let object = write.object;
    const { resource, subresource } = call;
    const target = subresource ? `${resource.storage}/${subresource}` : resource.storage;
    for (const fn of this.#functions) {
      if (fn.phase !== phase || !fn.resources.includes(target)) continue;
      const review = fn.review(reviewOf(call, { ...write, object }));
      const response = review instanceof Promise ? await withinDeadline(call, review) : review;
      call.warnings.push(...(response.warnings ?? []));
      if (!response.allowed) throw denied(fn.name, response);
      if (phase === 'mutating' && response.object) object = response.object;
    }
    return runWebhooks(call, { ...write, object }, phase);
  }
}

function reviewOf(call: Call, write: Write): AdmissionRequest {
  const { group, version, plural } = call.resource;
  const of = write.kind ?? call.resource;
  const namespace = namespaceOf(call, write.name);
  return {
    uid: 'in-process',
    kind: { group: of.group, version: of.version, kind: of.kind },
    resource: { group, version, resource: plural },
    ...(call.subresource ? { subResource: call.subresource } : {}),
    name: write.name,
    ...(namespace === '' ? {} : { namespace }),
    operation: write.operation,
    userInfo: call.user,
    object: write.object ?? null,
    oldObject: write.old ?? null,
    dryRun: write.dryRun,
  };
}

function denied(name: string, response: Extract<AdmissionResponse, { allowed: false }>): ApiError {
  const text = `admission webhook "${name}" denied the request: ${response.message}`;
  return new ApiError(response.code ?? 403, response.reason ?? 'Forbidden', text, response.details);
}

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);

/** NamespaceLifecycle: rejects creation in a missing or terminating namespace, and deletion of some namespaces. */
function checkNamespace(call: Call, write: Write): void {
  const { resource, namespace, core } = call;
  if (resource.storage === 'namespaces') {
    if (write.operation === 'DELETE' && IMMORTAL.has(write.name) && !call.subresource) {
      throw forbidden(resource, write.name, 'this namespace may not be deleted');
    }
    return;
  }
  if (!namespace || write.operation !== 'CREATE') return;
  const stored = core.store.getHead('namespaces', namespace);
  if (!stored) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  if (!stored.object.metadata.deletionTimestamp) return;
  const { name } = write;
  if (name && !call.subresource && core.store.getHead(resource.storage, `${namespace}/${name}`))
    throw alreadyExists(resource, name);
  const text = `unable to create new content in namespace ${namespace} because it is being terminated`;
  // The name is not generated yet.
  const refusal = forbidden(resource, name || write.object?.metadata.generateName || 'Unknown', text);
  refusal.status.details!.causes = [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ];
  throw refusal;
}
