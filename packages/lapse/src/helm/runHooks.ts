// Runs the hooks of a release one after the other: creates each, waits for it, and deletes it according to its
// policies. The record notes a running hook with its uid, so that after a restart Lapse waits for it and does not run
// it again.

import { formatTime, type Instant, isDue, type Millis, parseTime, plus, seconds } from '@lapse/base/instant';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { checkPathSegment } from '@lapse/kube/api/names';
import { asObject, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { isDenied } from '#authors/deniedGroups';
import { type HookEvent, hasPolicy, hookObject } from './hooks.ts';
import type { Hook } from './release.ts';
import { stopped } from './removal.ts';
import type { Uninstalled, UninstallRequest } from './uninstall.ts';
import type { UninstallSteps } from './uninstallPlan.ts';

export interface HookOptions {
  readonly enabled: boolean;
  /** Timeout of one hook. */
  readonly timeout: Millis;
  /** The decision that the hooks belong to. It is written on created objects so that they are recognized later. */
  readonly decision: string;
}

const DECISION_ANNOTATION = 'lapse.dev/cleaner-decision';
const POLL = seconds(1);

type Step =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'waiting'; readonly until: Instant; readonly why: string };

const FIELD = { 'pre-delete': 'preDelete', 'post-delete': 'postDelete' } as const;

/** Runs the hooks of an event. Returns undefined when they are done. */
export async function runHooks(
  event: HookEvent,
  steps: UninstallSteps,
  request: UninstallRequest,
): Promise<Uninstalled | undefined> {
  if (!request.hooks.enabled) return undefined;
  const obstacle = event === 'pre-delete' ? await findObstacle(steps, request) : undefined;
  if (obstacle !== undefined) return { kind: 'failed', why: obstacle };
  const hooks = steps[FIELD[event]];
  for (;;) {
    const done = request.progress.hooks[FIELD[event]] ?? 0;
    const hook = hooks[done];
    if (hook === undefined) return undefined;
    const step = await advance(hook, request);
    if (step.kind === 'waiting') return step;
    if (step.kind === 'failed') {
      await tidyUp(event, steps, done, request);
      return { kind: 'failed', why: `hook ${hook.kind}/${hook.name}: ${step.why}` };
    }
    if ((await noteSucceeded(event, hooks, done + 1, request)) === 'stop') return stopped(request);
  }
}

/** Deletes the hooks according to their policies once all of the event have succeeded. */
async function noteSucceeded(
  event: HookEvent,
  hooks: readonly Hook[],
  done: number,
  request: UninstallRequest,
): Promise<'go on' | 'stop'> {
  const { uid: _uid, startedAt: _startedAt, ...progress } = request.progress.hooks;
  if (done === hooks.length) await removeSucceeded(hooks.toReversed(), request);
  return request.progress.noteHooks({ ...progress, [FIELD[event]]: done });
}

const WAY_OUT = 'to uninstall without hooks, set cleaner.helm.hooks: skip';

/**
 * Returns why a hook that has not run yet cannot be created, or undefined. All hooks are checked before anything is
 * deleted, but not while one of them runs.
 */
async function findObstacle(steps: UninstallSteps, request: UninstallRequest): Promise<string | undefined> {
  const { preDelete = 0, postDelete = 0, uid } = request.progress.hooks;
  if (uid !== undefined) return undefined;
  const asked = new Map<string, string | undefined>();
  for (const hook of [...steps.preDelete.slice(preDelete), ...steps.postDelete.slice(postDelete)]) {
    const located = await locate(hook, request);
    let why = typeof located === 'string' ? located : undefined;
    if (typeof located !== 'string') {
      const { kind, key } = located;
      const id = `${kind.group}/${kind.resource}`;
      if (!asked.has(id)) asked.set(id, await request.client.refusalToCreate(kind, key.namespace));
      why = asked.get(id);
    }
    if (why !== undefined) return `hook ${hook.kind}/${hook.name}: ${why}; ${WAY_OUT}`;
  }
  return undefined;
}

/**
 * A failed hook stops the uninstall. It and the hooks before it are deleted according to their policies. The next
 * attempt runs it again.
 */
async function tidyUp(
  event: HookEvent,
  steps: UninstallSteps,
  failed: number,
  request: UninstallRequest,
): Promise<void> {
  const hooks = steps[FIELD[event]];
  const hook = hooks[failed]!;
  if (hasPolicy(hook, 'hook-failed')) await removeHook(hook, request);
  await removeSucceeded(hooks.slice(0, failed), request);
  await request.progress.noteHooks(event === 'pre-delete' ? {} : { preDelete: steps.preDelete.length });
}

async function removeSucceeded(hooks: readonly Hook[], request: UninstallRequest): Promise<void> {
  for (const hook of hooks) if (hasPolicy(hook, 'hook-succeeded')) await removeHook(hook, request);
}

interface Located {
  readonly kind: Kind;
  readonly object: JsonObject;
  readonly key: ObjectKey & { readonly namespace: string };
}

async function locate(hook: Hook, { discovery, release }: UninstallRequest): Promise<Located | string> {
  const object = hookObject(hook);
  const gv = parseApiVersion(String(object?.apiVersion ?? ''));
  if (object === undefined || gv === undefined || !isObject(object.metadata))
    return 'its manifest is not one object';
  const { name, namespace } = object.metadata;
  if (typeof name !== 'string' || name === '') return 'its object has no name';
  if (checkPathSegment(name).length > 0) return `nothing can be called ${JSON.stringify(name)}`;
  const kind = await discovery.find({ ...gv, kind: String(object.kind ?? '') });
  if (kind === undefined) return `${String(object.kind)} is not served`;
  // Hook manifests come from the chart. They must not create cluster-scoped objects or denied kinds, such as RBAC
  // objects.
  if (!kind.namespaced || isDenied(kind.group)) return `${kind.kind} may not be made by a hook`;
  if (namespace !== undefined && namespace !== '' && namespace !== release.namespace)
    return 'it belongs to another namespace';
  return { kind, object, key: { namespace: release.namespace, name } };
}

/** Deletes only objects created for this decision: another object may have the name. */
async function removeHook(hook: Hook, request: UninstallRequest): Promise<void> {
  const located = await locate(hook, request);
  if (typeof located === 'string') return;
  const { kind, key } = located;
  const read = await request.client.get(kind, key);
  if (read.kind !== 'read' || read.value === undefined || !isOurs(read.value, request)) return;
  if ((await request.client.refusalTo('delete', kind, key)) !== undefined) return;
  const { uid = '' } = read.value.metadata;
  await request.deletes.send(kind, { ...key, uid }, 'hook');
}

const isOurs = ({ metadata }: KubeObject, { hooks }: UninstallRequest): boolean =>
  metadata.annotations?.[DECISION_ANNOTATION] === hooks.decision;

async function advance(hook: Hook, request: UninstallRequest): Promise<Step> {
  const located = await locate(hook, request);
  if (typeof located === 'string') return { kind: 'failed', why: located };
  const read = await request.client.get(located.kind, located.key);
  if (read.kind === 'forbidden') return { kind: 'failed', why: read.why };
  const live = read.kind === 'read' ? read.value : undefined;
  const { uid, startedAt } = request.progress.hooks;
  if (uid !== undefined && startedAt !== undefined) return watch(live, uid, startedAt, request);
  if (live === undefined) return start(located, request);
  // Created for this decision just before a crash and not noted. A failed hook was already reported and is deleted
  // before the next attempt.
  const isOver = resultOf(live)?.kind === 'failed' && hasPolicy(hook, 'before-hook-creation');
  if (isOurs(live, request) && !isOver) return noteRunning(live, request);
  return makeWay(hook, located, live, request);
}

/** An object of an earlier run has the name. */
async function makeWay(
  hook: Hook,
  { kind, key }: Located,
  live: KubeObject,
  request: UninstallRequest,
): Promise<Step> {
  const { uid = '', deletionTimestamp } = live.metadata;
  if (deletionTimestamp === undefined) {
    if (!hasPolicy(hook, 'before-hook-creation'))
      return { kind: 'failed', why: `${key.name} exists already` };
    const refusal = await request.client.refusalTo('delete', kind, key);
    if (refusal !== undefined) return { kind: 'failed', why: `${refusal}; ${WAY_OUT}` };
    const deletion = await request.deletes.send(kind, { ...key, uid }, 'hook');
    if (deletion.kind === 'forbidden' || deletion.kind === 'refused')
      return { kind: 'failed', why: deletion.why };
  }
  return { kind: 'waiting', until: plus(request.now, POLL), why: 'an earlier hook makes way' };
}

async function start({ kind, object, key }: Located, request: UninstallRequest): Promise<Step> {
  const { namespace } = key;
  const refusal = await request.client.refusalTo('create', kind, { namespace });
  if (refusal !== undefined) return { kind: 'failed', why: `${refusal}; ${WAY_OUT}` };
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const annotations = {
    ...(isObject(metadata.annotations) ? metadata.annotations : {}),
    [DECISION_ANNOTATION]: request.hooks.decision,
  };
  const stamped = asObject({ ...object, metadata: { ...metadata, namespace, annotations } });
  const answer = await request.client.create(kind, stamped);
  return answer.kind === 'created'
    ? noteRunning(answer.object, request)
    : { kind: 'failed', why: answer.why };
}

async function noteRunning(live: KubeObject, request: UninstallRequest): Promise<Step> {
  const progress = {
    ...request.progress.hooks,
    uid: live.metadata.uid ?? '',
    startedAt: formatTime(request.now),
  };
  if ((await request.progress.noteHooks(progress)) === 'stop') return stopped(request);
  return watch(live, progress.uid, progress.startedAt, request);
}

/**
 * Jobs and Pods are waited for. Other objects are ready when they exist. A hook that is deleted meanwhile counts as
 * done.
 */
function watch(
  live: KubeObject | undefined,
  uid: string,
  startedAt: string,
  request: UninstallRequest,
): Step {
  if (live === undefined || live.metadata.uid !== uid) return { kind: 'succeeded' };
  const result = resultOf(live);
  if (result !== undefined) return result;
  const end = plus(parseTime(startedAt), request.hooks.timeout);
  if (isDue(end, request.now)) return { kind: 'failed', why: 'it did not finish in time' };
  return { kind: 'waiting', until: plus(request.now, POLL), why: 'a hook is running' };
}

function resultOf(live: KubeObject): Step | undefined {
  const status = isObject(live.status) ? live.status : {};
  if (live.kind === 'Pod') {
    if (status.phase === 'Succeeded') return { kind: 'succeeded' };
    return status.phase === 'Failed' ? { kind: 'failed', why: 'the Pod failed' } : undefined;
  }
  if (live.kind !== 'Job') return { kind: 'succeeded' };
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  const has = (type: string) => conditions.some((one) => one.type === type && one.status === 'True');
  if (has('Complete')) return { kind: 'succeeded' };
  return has('Failed') ? { kind: 'failed', why: 'the Job failed' } : undefined;
}
