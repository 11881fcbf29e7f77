// Computes when an object of any kind finished, by the fields and conditions that most kinds have in their status. An
// error is a separate result and never leads to a deletion.

import { type Instant, instant } from '@lapse/base/instant';
import { parseTimestamp, Timestamp } from '@lapse/cel/cel';
import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Finish } from './expiry.ts';

/** It is unknown when, or whether, the object finished. `note` contains no data of the object. */
export interface Unjudged {
  readonly kind: 'error';
  readonly note: string;
}

export const unjudged = (note: string): Unjudged => ({ kind: 'error', note });

/** The zero times of Go and Unix. Some controllers write them for a missing time. */
const ZERO_SECONDS = [-62_135_596_800, 0];

export function finishAt(value: unknown, rule: string): Finish | Unjudged {
  if (value === null || value === undefined || value === '') return { kind: 'unfinished' };
  const time = typeof value === 'string' ? parseTimestamp(value) : value;
  if (!(time instanceof Timestamp)) return unjudged(`${rule}: ${describeType(value)} is not a time`);
  if (ZERO_SECONDS.includes(time.epochSeconds) && time.subNanos === 0) return { kind: 'unfinished' };
  return { kind: 'finished', at: instantOf(time), rule };
}

/** Type and length, never the value: it may be the value of a Secret. */
const describeType = (value: unknown): string =>
  typeof value === 'string' ? `a text of ${value.length} characters` : `a value of type ${typeof value}`;

/** Rounds up to a millisecond: a deadline may be late by a fraction, but never early. */
const instantOf = ({ epochSeconds, subNanos }: Timestamp): Instant =>
  instant(epochSeconds * 1000 + Math.ceil(subNanos / 1_000_000));

/** Parses an RFC 3339 time as strictly as the API server. */
export function parseInstant(text: string): Instant | undefined {
  const time = parseTimestamp(text);
  return time === undefined ? undefined : instantOf(time);
}

/** The fields that `computeStatusFinish` reads. */
export const STATUS_READS: readonly (readonly string[])[] = [
  ['status', 'completionTime'],
  ['status', 'completionTimestamp'],
  ['status', 'finishedAt'],
  ['status', 'conditions'],
];

const TIME_FIELDS = ['completionTime', 'completionTimestamp', 'finishedAt'];

/** The finish by the status fields and conditions that most kinds use. */
export function computeStatusFinish(object: KubeObject): Finish | Unjudged {
  const status = getOwn(asJson(object), 'status');
  if (!isObject(status)) return { kind: 'unfinished' };
  for (const field of TIME_FIELDS) {
    const found = finishAt(getOwn(status, field), `status.${field}`);
    if (found.kind !== 'unfinished') return found;
  }
  const conditions = getOwn(status, 'conditions');
  return Array.isArray(conditions) ? conditionFinish(conditions) : { kind: 'unfinished' };
}

function conditionFinish(conditions: readonly Json[]): Finish | Unjudged {
  const terminal = conditions.find(isTerminal);
  if (!isObject(terminal)) return conditions.some(isUnclear) ? UNCLEAR : { kind: 'unfinished' };
  const rule = `condition ${terminal['type']}`;
  const found = finishAt(terminal['lastTransitionTime'], rule);
  return found.kind === 'unfinished'
    ? { kind: 'timeUnknown', note: `the ${rule} has no lastTransitionTime` }
    : found;
}

/** Kinds use Succeeded=False differently. An object with a completion time is handled before. */
const UNCLEAR: Unjudged = {
  kind: 'error',
  note: 'condition Succeeded is False without a completion time and may mean progress; set spec.finishedAt',
};

/** Reasons of Succeeded=False during progress, also as the end of a longer reason: `PodsPending`. */
const PROGRESS =
  /(^|[a-z])(Pending|Running|Processing|Progressing|InProgress|Waiting|Queued|Retrying|Reconciling|Creating|Initializing|Restarting|Scheduling)$|^(Active|Accepted|Created|NotReady|Scheduled|Started|Starting|Submitted|Suspended|Unknown)$/;

const isProgress = ({ reason }: JsonObject): boolean => typeof reason === 'string' && PROGRESS.test(reason);

function isUnclear(condition: Json): boolean {
  if (!isObject(condition)) return false;
  return condition['type'] === 'Succeeded' && condition['status'] === 'False' && !isProgress(condition);
}

const TERMINAL: readonly unknown[] = ['Succeeded', 'Complete', 'Failed'];

function isTerminal(condition: Json): boolean {
  return isObject(condition) && TERMINAL.includes(condition['type']) && condition['status'] === 'True';
}
