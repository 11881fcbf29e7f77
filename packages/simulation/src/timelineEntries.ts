// Decides which lines the timeline contains: deletions, finished objects, condition changes, rejected requests and waits
// of controllers. Actions of a user have a line only if they delete something.

import { type Instant, millis } from '@lapse/base/instant';
import { equal, isObject, type JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Change } from './history.ts';
import { lengthText } from './timeline.ts';
import type { RequestRecord } from './wire.ts';

export interface TimelineEntry {
  readonly action: string;
  readonly detail: string;
}

const IGNORED_RESOURCES = new Set(['events', 'leases', 'customresourcedefinitions', 'apiservices']);

/** `lag` is set if a controller waited for this change. */
export function describeChange(change: Change, lag: string): TimelineEntry[] {
  if (IGNORED_RESOURCES.has(change.resource)) return [];
  const { before, after } = change;
  if (after === undefined) return [{ action: 'deleted', detail: endDetail(change, lag) }];
  const entries: TimelineEntry[] = [];
  if (before === undefined && change.by !== 'user') entries.push({ action: 'created', detail: '' });
  if (isEnding(after) && !isEnding(before))
    entries.push({ action: 'terminating', detail: join(endDetail(change, lag), waitsFor(after)) });
  const finish = finishOf(after);
  if (finish !== undefined && (before === undefined || finishOf(before) === undefined)) entries.push(finish);
  else entries.push(...conditionEntries(before, after), ...phaseEntries(before, after));
  if (entries.length > 0 || before === undefined || change.by !== 'process') return entries;
  const fields = changedFields(asJson(before), asJson(after));
  return fields === '' ? [] : [{ action: 'updated', detail: fields }];
}

const join = (...parts: string[]): string => parts.filter((part) => part !== '').join(' ');

/** A deletion that already has a `terminating` line shows no second lag. */
function endDetail({ by, before, after }: Change, lag: string): string {
  const wasTerminating = after === undefined && isEnding(before);
  if (by === 'process') return wasTerminating ? '' : lag;
  return wasTerminating ? '' : `by ${by === 'server' ? 'the server' : `a ${by}`}`;
}

const isEnding = (object: KubeObject | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined;

function waitsFor({ metadata }: KubeObject): string {
  const { finalizers = [], deletionGracePeriodSeconds: grace = 0 } = metadata;
  if (finalizers.length > 0) return `waits for ${finalizers.join(', ')}`;
  return grace > 0 ? `within ${lengthText(millis(grace * 1000))}` : '';
}

interface ConditionLike {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

function conditionsOf(object: KubeObject | undefined): ConditionLike[] {
  const status = object?.status;
  if (!isObject(status) || !Array.isArray(status.conditions)) return [];
  return status.conditions.filter(isObject).map((condition) => ({
    type: String(condition.type),
    status: String(condition.status),
    reason: typeof condition.reason === 'string' ? condition.reason : '',
  }));
}

const FINISHED: Readonly<Record<string, string>> = { Complete: 'finished', Failed: 'failed' };

/** The line of a finished Job or Pod, with the TTL that starts then. */
function finishOf(object: KubeObject): TimelineEntry | undefined {
  const status = isObject(object.status) ? object.status : {};
  if (object.kind === 'Pod' && (status.phase === 'Succeeded' || status.phase === 'Failed'))
    return { action: status.phase === 'Failed' ? 'failed' : 'finished', detail: '' };
  if (object.kind !== 'Job') return undefined;
  const end = conditionsOf(object).find(({ type, status: is }) => type in FINISHED && is === 'True');
  if (end === undefined) return undefined;
  const spec = isObject(object.spec) ? object.spec : {};
  const ttl = spec.ttlSecondsAfterFinished;
  return {
    action: FINISHED[end.type]!,
    detail: typeof ttl === 'number' ? `ttl=${lengthText(millis(ttl * 1000))}` : '',
  };
}

function conditionEntries(before: KubeObject | undefined, after: KubeObject): TimelineEntry[] {
  const old = new Map(conditionsOf(before).map((condition) => [condition.type, condition]));
  return conditionsOf(after)
    .filter(
      ({ type, status, reason }) => old.get(type)?.status !== status || old.get(type)?.reason !== reason,
    )
    .map(({ type, status, reason }) => ({ action: `${type}=${status}`, detail: reason }));
}

function phaseEntries(before: KubeObject | undefined, after: KubeObject): TimelineEntry[] {
  const phase = (object: KubeObject | undefined) =>
    isObject(object?.status) && typeof object.status.phase === 'string' ? object.status.phase : '';
  const now = phase(after);
  return before === undefined || now === '' || now === phase(before)
    ? []
    : [{ action: `phase=${now}`, detail: '' }];
}

const BOOKKEEPING = new Set(['resourceVersion', 'managedFields', 'generation', 'uid', 'creationTimestamp']);

/** `metadata.labels, spec.suspend`: the fields of the first two levels that differ. */
function changedFields(before: JsonObject, after: JsonObject): string {
  return differingNames(before, after)
    .flatMap((field) => {
      const [a, b] = [before[field], after[field]];
      if (!isObject(a) || !isObject(b)) return [field];
      const inner = differingNames(a, b).filter((name) => field !== 'metadata' || !BOOKKEEPING.has(name));
      return inner.map((name) => `${field}.${name}`);
    })
    .join(', ');
}

const differingNames = (a: JsonObject, b: JsonObject): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].sort().filter((name) => !equal(a[name], b[name]));

/** The line of a write that was rejected or got no response. */
export function describeRefusal(record: RequestRecord): TimelineEntry | undefined {
  if (typeof record.status !== 'number') return { action: `${record.verb} unanswered`, detail: '' };
  if (record.status < 400) return undefined;
  return { action: `${record.verb} refused`, detail: refusalDetail(record) };
}

function refusalDetail({ status, reason = String(status), message = '' }: RequestRecord): string {
  if (reason === 'AlreadyExists') return 'exists already';
  if (reason === 'Conflict')
    return message.startsWith('admission webhook ') ? 'conflict: admission' : 'conflict: changed since read';
  if (reason === 'NotFound') return 'gone';
  const fields = reason === 'Invalid' ? fieldsIn(message) : '';
  return fields === '' ? words(reason) : `invalid: ${fields}`;
}

/** The field paths of a validation message, without the values. */
const fieldsIn = (message: string): string =>
  [...message.matchAll(/(?:: |\[|, )((?:spec|status|metadata|data)[\w.[\]]*):/g)].map((m) => m[1]).join(', ');

/** `TooManyRequests` → `too many requests`. */
const words = (reason: string): string => reason.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

/** The line of a wait: `until +10:00 (ttl)`, and whether the deadline was extended or shortened. */
export function describeWait(
  wait: { at: Instant; why: string },
  before: { at: Instant; why: string } | undefined,
  stamp: (at: Instant) => string,
): TimelineEntry {
  const moved =
    before === undefined || before.why !== wait.why || before.at === wait.at
      ? ''
      : ` was ${wait.at > before.at ? 'extended' : 'shortened'}`;
  return { action: 'waiting', detail: `until ${stamp(wait.at)} (${wait.why}${moved})` };
}
