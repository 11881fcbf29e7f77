// Ends a request. One status write sets the Ready condition, the completion time and the result. A second write sets the
// TTL annotation, because the status subresource drops metadata.

import { formatTime, type Instant, plus } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { Patched } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { READY, Reason } from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';
import { HOLD, type SkewGuard } from '#deletion/skewGuard';
import type { Failure } from './refusal.ts';
import type { RequestRules } from './rules.ts';
import { hasEnded, readyOf } from './terminal.ts';
import { writeRequest } from './writeRequest.ts';

export interface Ending {
  readonly ready: boolean;
  readonly reason: Reason;
  readonly message: string;
  /** Status fields with the result: `{ dataRef: … }`. */
  readonly result?: JsonObject;
}

export const completed = (message: string, result: JsonObject): Ending => ({
  ready: true,
  reason: Reason.Completed,
  message,
  result,
});

export const endedBy = ({ reason, message }: Failure, result?: JsonObject): Ending => ({
  ready: false,
  reason,
  message,
  ...(result === undefined ? {} : { result }),
});

// The API allows 32,768 characters; error messages of other components may be longer.
const MAX_MESSAGE = 32_768;

/** The final status of a request. `at`: the completion time. The completion time of an ended request is kept. */
export function buildEnd(request: RequestObject, ending: Ending, at: Instant): JsonObject {
  const before = readyOf(request);
  const ready: Condition = {
    type: READY,
    status: ending.ready ? 'True' : 'False',
    reason: ending.reason,
    message: ending.message.slice(0, MAX_MESSAGE),
  };
  return {
    completionTimestamp:
      (hasEnded(request) ? request.status?.completionTimestamp : undefined) ?? formatTime(at),
    conditions: setCondition(before && [before], ready, at) as unknown as Json,
    ...ending.result,
  };
}

export interface FinishOptions<T extends RequestObject> {
  readonly rules: RequestRules<T>;
  readonly guard: Pick<SkewGuard, 'stamp'>;
  /** Called after the end was written. */
  readonly onEnd?: (ending: Ending) => void;
}

/**
 * Ends the request. If it has already ended, it is not changed. The TTL counts from the written completion time, so
 * nothing is written while the API server's time is unknown. `endingAt` receives that time, for messages that contain it.
 */
export async function finishRequest<T extends RequestObject>(
  ctx: ReconcileContext,
  { rules, guard, onEnd }: FinishOptions<T>,
  request: T,
  endingAt: Ending | ((at: Instant) => Ending),
): Promise<Outcome> {
  const at = await guard.stamp();
  if (at === undefined) return waitUntil(plus(ctx.now, HOLD), 'held: clock');
  const ending = typeof endingAt === 'function' ? endingAt(at) : endingAt;
  const writeEnd = async (current: T): Promise<Outcome> => {
    const written = await writeRequest(ctx, rules, current, {
      subresource: 'status',
      patch: (live) => (hasEnded(live) ? undefined : { status: buildEnd(live, ending, at) }),
    });
    if (written.kind === 'written') {
      announce(ctx, request, ending);
      onEnd?.(ending);
    }
    if ('outcome' in written) return written.outcome;
    return rules.ttl.mode === 'annotation' ? settled() : setTTLAnnotation(ctx, rules, written.object);
  };
  // In mode annotation, the annotation is written before the end: if an ended request lacks it, a user removed it.
  if (rules.ttl.mode !== 'annotation') return writeEnd(request);
  const annotated = await writeTTLAnnotation(ctx, rules, request, hasEnded);
  return 'outcome' in annotated ? annotated.outcome : writeEnd(annotated.object);
}

function announce(ctx: ReconcileContext, request: RequestObject, { ready, reason, message }: Ending): void {
  const type = ready ? 'Normal' : 'Warning';
  if (!ctx.dryRun) ctx.event(request, { type, reason, action: 'Finish', note: message });
  else {
    const note = `would end with Ready=${ready ? 'True' : 'False'} ${reason}: ${message} (dry run)`;
    ctx.event(request, { type, reason: 'WouldFinish', action: 'Finish', note });
  }
}

/** Sets the TTL that applied when the request ended. Idempotent; never overwrites. */
export async function setTTLAnnotation<T extends RequestObject>(
  ctx: ReconcileContext,
  rules: RequestRules<T>,
  request: T,
): Promise<Outcome> {
  const written = await writeTTLAnnotation(ctx, rules, request);
  return 'outcome' in written ? written.outcome : settled();
}

const writeTTLAnnotation = <T extends RequestObject>(
  ctx: ReconcileContext,
  rules: RequestRules<T>,
  request: T,
  skip: (current: T) => boolean = () => false,
): Promise<Patched<T>> =>
  writeRequest(ctx, rules, request, {
    patch: (current) =>
      current.metadata.annotations?.[rules.annotationKey] !== undefined || skip(current)
        ? undefined
        : { metadata: { annotations: { [rules.annotationKey]: rules.ttl.text } } },
  });

/** Replaces the end of the request by InvalidTTL. No other code rewrites the end of a request. */
export async function markInvalidTtl<T extends RequestObject>(
  ctx: ReconcileContext,
  rules: RequestRules<T>,
  request: T,
  message: string,
): Promise<Outcome> {
  const written = await writeRequest(ctx, rules, request, {
    subresource: 'status',
    patch: (current) => {
      if (
        current.metadata.annotations?.[rules.annotationKey] !==
        request.metadata.annotations?.[rules.annotationKey]
      )
        return undefined;
      // Without a completion time there is no TTL, and this function does not set one.
      if (current.status?.completionTimestamp === undefined) return undefined;
      const ready = readyOf(current);
      if (ready?.reason === Reason.InvalidTTL && ready.message === message) return undefined;
      return { status: buildEnd(current, { ready: false, reason: Reason.InvalidTTL, message }, ctx.now) };
    },
  });
  return 'outcome' in written ? written.outcome : settled();
}
