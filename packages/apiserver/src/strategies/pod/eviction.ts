// POST pods/NAME/eviction: a delete that checks the PodDisruptionBudget first.

import { formatTime, type Instant } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import { badRequest, forbidden, internal, notFound } from '@lapse/kube/api/errors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { clone, type JsonObject } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Call } from '../../context.ts';
import type { DeleteOptions } from '../../http/query.ts';
import { parseWriteOptions } from '../../http/query.ts';
import { keyOf, specOf, statusOf } from '../../resources/resource.ts';
import { RevisionMismatch } from '../../store/store.ts';
import { deleteObject } from '../../verbs/delete.ts';
import { selects } from '../labelSelector.ts';
import { admitAs, createdStatus, decodeAs } from '../subresource.ts';
import { child, ensure, flag, list, number, objects, part, text } from '../values.ts';
import { setPodCondition } from './conditions.ts';

const EVICTION = { group: 'policy', version: 'v1', kind: 'Eviction' };
const PODS = { group: '', plural: 'pods' };
const BUDGETS = 'poddisruptionbudgets.policy';

export async function evictPod(call: Call): Promise<HttpResponse> {
  const write = parseWriteOptions(call.query, 'CreateOptions');
  const sent = decodeAs(call, EVICTION, write);
  if (sent.metadata.name !== call.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const eviction = await admitAs(call, EVICTION, sent, deleteOptionsOf(sent, write.dryRun).dryRun);
  const options = deleteOptionsOf(eviction, write.dryRun);
  const pod = call.core.store.get('pods', keyOf(call.namespace, call.name!))?.object;
  if (!pod) throw notFound(PODS, call.name!);
  if (!ignoresBudgets(pod)) await askBudget(call, pod, options.dryRun);
  if (!options.dryRun) await markEvicted(call);
  await deleteObject(call, call.namespace, call.name!, options);
  return createdStatus(call);
}

function deleteOptionsOf(eviction: KubeObject, dryRun: boolean): DeleteOptions {
  const options = child(eviction, 'deleteOptions');
  const preconditions = part(options, 'preconditions');
  return {
    gracePeriodSeconds: number(options, 'gracePeriodSeconds'),
    propagationPolicy: text(options, 'propagationPolicy') || undefined,
    orphanDependents: flag(options, 'orphanDependents'),
    uid: text(preconditions, 'uid') || undefined,
    resourceVersion: text(preconditions, 'resourceVersion') || undefined,
    dryRun: dryRun || list(options, 'dryRun').length > 0,
  };
}

/** Pods that are not running or are already terminating do not count for the budget. */
const ignoresBudgets = (pod: KubeObject): boolean =>
  ['Succeeded', 'Failed', 'Pending'].includes(text(statusOf(pod), 'phase')) ||
  pod.metadata.deletionTimestamp !== undefined;

async function askBudget(call: Call, pod: KubeObject, dryRun: boolean): Promise<void> {
  const budgets = [...call.core.store.view(BUDGETS)!.entries(`${call.namespace}/`)].filter((b) =>
    selects(child(specOf(b.object), 'selector'), pod.metadata.labels ?? {}),
  );
  const stored = budgets[0];
  if (!stored) return;
  if (budgets.length > 1)
    throw internal(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  if (!isReady(pod) && allowsUnhealthy(stored.object)) return;
  checkBudget(stored.object);
  if (dryRun) return;
  const next = asObject(clone(asJson(stored.object)));
  const status = ensure(next, 'status');
  status['disruptionsAllowed'] = (number(status, 'disruptionsAllowed') ?? 0) - 1;
  if (number(status, 'disruptionsAllowed') === 0) disallow(status, call.core.clock.now());
  ensure(status, 'disruptedPods')[pod.metadata.name!] = formatTime(call.core.clock.now());
  try {
    await call.core.store.put(BUDGETS, stored.key, stored.revision, next);
  } catch (cause) {
    if (cause instanceof RevisionMismatch) return askBudget(call, pod, dryRun);
    throw cause;
  }
}

/** Records in the budget that no disruption is allowed. */
function disallow(status: JsonObject, now: Instant): void {
  const condition: JsonObject = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: number(status, 'observedGeneration') ?? 0,
    reason: 'InsufficientPods',
    message: '',
  };
  status['conditions'] = setCondition(objects(status, 'conditions'), condition, now);
}

const isReady = (pod: KubeObject): boolean =>
  objects(statusOf(pod), 'conditions').some(
    (c) => text(c, 'type') === 'Ready' && text(c, 'status') === 'True',
  );

function allowsUnhealthy(budget: KubeObject): boolean {
  const status = statusOf(budget);
  const [healthy, desired] = [number(status, 'currentHealthy') ?? 0, number(status, 'desiredHealthy') ?? 0];
  return (
    text(specOf(budget), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow' ||
    (healthy >= desired && desired > 0)
  );
}

const TOO_MANY = "Cannot evict pod as it would violate the pod's disruption budget.";

function tooMany(message: string, retryAfterSeconds?: number): ApiError {
  return new ApiError(429, 'TooManyRequests', TOO_MANY, {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
  });
}

function checkBudget(budget: KubeObject): void {
  const { name, generation } = budget.metadata;
  const status = statusOf(budget);
  if ((number(status, 'observedGeneration') ?? 0) < (generation ?? 0))
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  const allowed = number(status, 'disruptionsAllowed') ?? 0;
  if (allowed < 0)
    throw forbidden(
      { group: 'policy', plural: 'poddisruptionbudget' },
      name!,
      'pdb disruptions allowed is negative',
    );
  if (allowed === 0) throw tooMany(refusalOf(name!, status));
}

function refusalOf(name: string, status: JsonObject): string {
  const [healthy, desired] = [number(status, 'currentHealthy') ?? 0, number(status, 'desiredHealthy') ?? 0];
  const condition = objects(status, 'conditions').find((c) => text(c, 'type') === 'DisruptionAllowed');
  const because = text(condition, 'status') === 'False' ? text(condition, 'message') : '';
  const reason = text(condition, 'reason');
  const head = `The disruption budget ${name}`;
  if (because !== '' && reason === 'SyncFailed')
    return `${head} does not allow evicting pods currently because it failed sync: ${because}`;
  if (healthy <= desired) return `${head} needs ${desired} healthy pods and has ${healthy} currently`;
  if (because !== '') return `${head} does not allow evicting pods currently (${reason}): ${because}`;
  return `${head} does not allow evicting pods currently`;
}

/** The condition shows the reason for the deletion, in case a finalizer keeps the Pod. */
async function markEvicted(call: Call): Promise<void> {
  const { store, clock } = call.core;
  for (;;) {
    const head = store.getHead('pods', keyOf(call.namespace, call.name!));
    if (!head) throw notFound(PODS, call.name!);
    const pod = asObject(clone(asJson(head.object)));
    const message = 'Eviction API: evicting';
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message };
    setPodCondition(ensure(pod, 'status'), condition, clock.now());
    try {
      await store.put('pods', head.key, head.revision, pod);
      return;
    } catch (cause) {
      if (!(cause instanceof RevisionMismatch)) throw cause;
    }
  }
}
