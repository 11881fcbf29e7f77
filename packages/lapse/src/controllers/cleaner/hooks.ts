// Runs the hooks of a release one after the other: creates each, waits for it, and deletes it according to its
// policies. The record notes a running hook with its uid, so that after a restart Lapse waits for it and does not run
// it again.

import { formatTime, type Instant, isDue, type Millis, parseTime, plus, seconds } from '@lapse/base/instant';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { checkPathSegment } from '@lapse/kube/api/names';
import { asObject, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Discovery } from '@lapse/kube/client/discovery';
import type { RecordedRelease } from '#api/cleaner';
import { type HookEvent, hasPolicy, hookObject } from '#helm/hooks';
import type { Hook } from '#helm/release';
import type { UninstallSteps } from '#helm/uninstall';
import { type DeletingClient, deleteObject, getObject, tell } from './authorizedClient.ts';
import type { Uninstalled } from './helm.ts';
import { isDenied } from './kinds.ts';

type Progress = NonNullable<RecordedRelease['hooks']>;

export interface HookRunnerOptions {
  readonly authorized: DeletingClient;
  readonly discovery: Discovery;
  readonly now: Instant;
  readonly enabled: boolean;
  /** Timeout of one hook. */
  readonly timeout: Millis;
  /**
   * Returns why the actor may not do this, or undefined. Sends a review only where requests do not impersonate the
   * subject.
   */
  readonly refusalTo: (verb: 'create' | 'delete', kind: Kind, name: string) => Promise<string | undefined>;
  /** Returns why objects of a kind cannot be created, or undefined: the actor or Lapse itself lacks the right. */
  readonly refusalToCreate: (kind: Kind) => Promise<string | undefined>;
  /** The decision that the hooks belong to. It is written on created objects so that they are recognized later. */
  readonly decision: string;
  readonly progress: () => Progress;
  /** `stop`: the Cleaner changed or was deleted meanwhile, and nothing was noted. */
  readonly note: (progress: Progress) => Promise<'go on' | 'stop'>;
}

export const DECISION_ANNOTATION = 'lapse.dev/cleaner-decision';
const POLL = seconds(1);

type Step =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'waiting'; readonly until: Instant; readonly why: string };

const FIELD = { 'pre-delete': 'preDelete', 'post-delete': 'postDelete' } as const;

export function createHookRunner(options: HookRunnerOptions) {
  return async (event: HookEvent, steps: UninstallSteps): Promise<Uninstalled | undefined> => {
    const hooks = hooksOf(event, steps);
    if (!options.enabled) return undefined;
    const obstacle = event === 'pre-delete' ? await findObstacle(steps, options) : undefined;
    if (obstacle !== undefined) return { kind: 'failed', why: obstacle };
    for (;;) {
      const done = options.progress()[FIELD[event]] ?? 0;
      const hook = hooks[done];
      if (hook === undefined) return undefined;
      const step = await advance(hook, options);
      if (step.kind === 'waiting') return step;
      if (step.kind === 'failed') {
        await tidyUp(event, steps, done, options);
        return { kind: 'failed', why: `hook ${hook.kind}/${hook.name}: ${step.why}` };
      }
      const { uid: _uid, startedAt: _startedAt, ...progress } = options.progress();
      if (done + 1 === hooks.length) await removeAll(hooks.toReversed(), options);
      if ((await options.note({ ...progress, [FIELD[event]]: done + 1 })) === 'stop') return stopped(options);
    }
  };
}

const WAY_OUT = 'to uninstall without hooks, set cleaner.helm.hooks: skip';

/**
 * Returns why a hook that has not run yet cannot be created, or undefined. All hooks are checked before anything is
 * deleted, but not while one of them runs.
 */
async function findObstacle(steps: UninstallSteps, options: HookRunnerOptions): Promise<string | undefined> {
  const { preDelete = 0, postDelete = 0, uid } = options.progress();
  if (uid !== undefined) return undefined;
  const asked = new Map<string, string | undefined>();
  for (const hook of [...steps.preDelete.slice(preDelete), ...steps.postDelete.slice(postDelete)]) {
    const located = await locate(hook, options);
    let why = typeof located === 'string' ? located : undefined;
    if (typeof located !== 'string') {
      const id = `${located.kind.group}/${located.kind.resource}`;
      if (!asked.has(id)) asked.set(id, await options.refusalToCreate(located.kind));
      why = asked.get(id);
    }
    if (why !== undefined) return `hook ${hook.kind}/${hook.name}: ${why}; ${WAY_OUT}`;
  }
  return undefined;
}

const hooksOf = (event: HookEvent, steps: UninstallSteps): readonly Hook[] =>
  event === 'pre-delete' ? steps.preDelete : steps.postDelete;

/** A hook that was not noted is found by the annotation on the object, or by its uid. */
const stopped = ({ now }: HookRunnerOptions) =>
  ({ kind: 'waiting', until: now, why: 'changed while deleting' }) as const;

/**
 * A failed hook stops the uninstall. It and the hooks before it are deleted according to their policies. The next
 * attempt runs it again.
 */
async function tidyUp(
  event: HookEvent,
  steps: UninstallSteps,
  failed: number,
  options: HookRunnerOptions,
): Promise<void> {
  const hooks = hooksOf(event, steps);
  const hook = hooks[failed]!;
  if (hasPolicy(hook, 'hook-failed')) await removeHook(hook, options);
  await removeAll(hooks.slice(0, failed), options);
  await options.note(event === 'pre-delete' ? {} : { preDelete: steps.preDelete.length });
}

async function removeAll(hooks: readonly Hook[], options: HookRunnerOptions): Promise<void> {
  for (const hook of hooks) if (hasPolicy(hook, 'hook-succeeded')) await removeHook(hook, options);
}

interface Located {
  readonly kind: Kind;
  readonly object: JsonObject;
  readonly name: string;
}

async function locate(hook: Hook, { discovery, authorized }: HookRunnerOptions): Promise<Located | string> {
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
  if (namespace !== undefined && namespace !== '' && namespace !== authorized.namespace)
    return 'it belongs to another namespace';
  return { kind, object, name };
}

/** Deletes only objects created for this decision: another object may have the name. */
async function removeHook(hook: Hook, options: HookRunnerOptions): Promise<void> {
  const located = await locate(hook, options);
  if (typeof located === 'string') return;
  const read = await getObject(options.authorized, located.kind, located.name);
  if (read.kind !== 'read' || read.value === undefined || !isOurs(read.value, options)) return;
  if ((await options.refusalTo('delete', located.kind, located.name)) !== undefined) return;
  const { uid = '' } = read.value.metadata;
  await deleteObject(options.authorized, located.kind, { name: located.name, uid }, 'hook');
}

const isOurs = ({ metadata }: KubeObject, { decision }: HookRunnerOptions): boolean =>
  metadata.annotations?.[DECISION_ANNOTATION] === decision;

async function advance(hook: Hook, options: HookRunnerOptions): Promise<Step> {
  const located = await locate(hook, options);
  if (typeof located === 'string') return { kind: 'failed', why: located };
  const read = await getObject(options.authorized, located.kind, located.name);
  if (read.kind === 'forbidden') return { kind: 'failed', why: read.why };
  const live = read.kind === 'read' ? read.value : undefined;
  const { uid, startedAt } = options.progress();
  if (uid !== undefined && startedAt !== undefined) return watch(live, uid, startedAt, options);
  if (live === undefined) return start(located, options);
  // Created for this decision just before a crash and not noted. A failed hook was already reported and is deleted
  // before the next attempt.
  const isOver = resultOf(live)?.kind === 'failed' && hasPolicy(hook, 'before-hook-creation');
  if (isOurs(live, options) && !isOver) return noteRunning(live, options);
  return makeWay(hook, located, live, options);
}

/** An object of an earlier run has the name. */
async function makeWay(
  hook: Hook,
  { kind, name }: Located,
  live: KubeObject,
  options: HookRunnerOptions,
): Promise<Step> {
  const { uid = '', deletionTimestamp } = live.metadata;
  if (deletionTimestamp === undefined) {
    if (!hasPolicy(hook, 'before-hook-creation')) return { kind: 'failed', why: `${name} exists already` };
    const refusal = await options.refusalTo('delete', kind, name);
    if (refusal !== undefined) return { kind: 'failed', why: `${refusal}; ${WAY_OUT}` };
    const answer = await deleteObject(options.authorized, kind, { name, uid }, 'hook');
    if (answer.kind === 'forbidden' || answer.kind === 'refused') return { kind: 'failed', why: answer.why };
  }
  return { kind: 'waiting', until: plus(options.now, POLL), why: 'an earlier hook makes way' };
}

async function start({ kind, object, name }: Located, options: HookRunnerOptions): Promise<Step> {
  const refusal = await options.refusalTo('create', kind, name);
  if (refusal !== undefined) return { kind: 'failed', why: `${refusal}; ${WAY_OUT}` };
  const { client, namespace, signal } = options.authorized;
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const annotations = isObject(metadata.annotations) ? metadata.annotations : {};
  const stamped = {
    ...object,
    metadata: {
      ...metadata,
      namespace,
      annotations: { ...annotations, [DECISION_ANNOTATION]: options.decision },
    },
  };
  try {
    const answer = await client.create(kind, asObject(stamped), { signal });
    if (answer.kind === 'created') return noteRunning(answer.object, options);
    return { kind: 'failed', why: tell(answer.error) };
  } catch (error) {
    if (error instanceof ApiError && error.code < 500 && error.code !== 429)
      return { kind: 'failed', why: tell(error) };
    throw error;
  }
}

async function noteRunning(live: KubeObject, options: HookRunnerOptions): Promise<Step> {
  const progress = {
    ...options.progress(),
    uid: live.metadata.uid ?? '',
    startedAt: formatTime(options.now),
  };
  if ((await options.note(progress)) === 'stop') return stopped(options);
  return watch(live, progress.uid, progress.startedAt, options);
}

/**
 * Jobs and Pods are waited for. Other objects are ready when they exist. A hook that is deleted meanwhile counts as
 * done.
 */
function watch(
  live: KubeObject | undefined,
  uid: string,
  startedAt: string,
  options: HookRunnerOptions,
): Step {
  if (live === undefined || live.metadata.uid !== uid) return { kind: 'succeeded' };
  const result = resultOf(live);
  if (result !== undefined) return result;
  const end = plus(parseTime(startedAt), options.timeout);
  if (isDue(end, options.now)) return { kind: 'failed', why: 'it did not finish in time' };
  return { kind: 'waiting', until: plus(options.now, POLL), why: 'a hook is running' };
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
