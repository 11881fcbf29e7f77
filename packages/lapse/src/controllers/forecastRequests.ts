// The forecast for a finished fire-and-forget request. It is the same for every kind of request and follows the rules
// of #requests.

import { assertNever } from '@lapse/base/assertNever';
import type { RequestObject } from '#api/storage/request';
import type { RequestRules } from '#requests/rules';
import { readyOf } from '#requests/terminal';
import { computeRequestTtl, computeScannedExpiry } from '#requests/ttl';
import {
  describeTerminating,
  type ForecastContext,
  isServed,
  nameOf,
  type Statement,
  type StatementReason,
} from './forecaster.ts';

/** Requests of one kind, each with the forecast of its TTL. Undefined for a request that has not finished. */
export async function* eachRequest<T extends RequestObject>(
  { snapshot, namespace }: ForecastContext,
  { kind }: RequestRules<T>,
): AsyncGenerator<T> {
  if (!isServed(snapshot, kind)) return;
  const source = { kind, ...(namespace === undefined ? {} : { namespace }) };
  for await (const page of snapshot.each(source)) yield* page;
}

/** The statement about a request with a TTL. */
export function statementOnTtl(
  request: RequestObject,
  rules: RequestRules,
  { now }: Pick<ForecastContext, 'now'>,
): Statement {
  const { mode, text } = rules.ttl;
  const scanned = mode === 'scanner';
  const rule = scanned ? 'requestTTL.ttl' : `annotation ${rules.annotationKey}`;
  const about = { object: nameOf(rules.kind, request), rule };
  if (request.metadata.deletionTimestamp !== undefined)
    return { kind: 'held', ...about, because: describeTerminating(request), reason: 'Terminating' };
  const expiry = (scanned ? computeScannedExpiry : computeRequestTtl)(request, rules, now);
  const length = scanned ? text : request.metadata.annotations?.[rules.annotationKey];
  switch (expiry.kind) {
    case 'none':
      return { kind: 'kept', ...about, ...whyWithoutDeadline(request, rules) };
    case 'invalid':
      return { kind: 'held', ...about, because: expiry.message, reason: 'InvalidTTL' };
    case 'waiting':
    case 'expired': {
      const at = expiry.kind === 'waiting' ? expiry.until : expiry.since;
      const because = `finished ${request.status?.completionTimestamp} (${readyOf(request)?.reason}), TTL ${length}`;
      return { kind: 'deleted', ...about, at, because: `${because}${retainedNote(request)}` };
    }
    default:
      return assertNever(expiry);
  }
}

/** What stays after the request is deleted. */
function retainedNote(request: RequestObject): string {
  const { retain } = (request as { spec?: { retain?: boolean } }).spec ?? {};
  return retain === true && readyOf(request)?.status === 'True'
    ? '; its snapshot stays in the storage system, the message of its Ready condition names it'
    : '';
}

/** Why a request has no TTL deadline yet. */
function whyWithoutDeadline(
  request: RequestObject,
  { ttl, annotationKey }: RequestRules,
): { because: string; reason: StatementReason } {
  const ready = readyOf(request);
  if (ready === undefined) return { because: 'unfinished: it has no Ready condition', reason: 'Unfinished' };
  const state = `Ready is ${ready.status} (${ready.reason})`;
  if (request.status?.completionTimestamp === undefined)
    return { because: `${state}, but status.completionTimestamp is not set`, reason: 'FinishTimeUnknown' };
  return ttl.mode === 'annotation' && request.metadata.annotations?.[annotationKey] === undefined
    ? { because: `it finished, and has no annotation ${annotationKey}`, reason: 'NoTTL' }
    : { because: `${state}, without a valid completion time`, reason: 'FinishTimeUnknown' };
}
