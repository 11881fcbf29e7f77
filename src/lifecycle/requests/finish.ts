// The one end of every request, whatever path led there: Ready with reason and message, the time, the result, in one
// write of the status; then the TTL annotation, in a write of its own (the status subresource would drop it).

import type { JsonObject } from '#api/json';
import { READY, Reason } from '#api/kinds/storage/conditions';
import type { RequestObject } from '#api/kinds/storage/request';
import { assertNever } from '#base/assertNever';
import { formatTime, type Instant } from '#base/instant';
import { type Outcome, settled } from '#runtime/outcome';
import type { Pass } from '#runtime/pass';
import type { Failure } from './refusal.ts';
import type { RequestRules } from './rules.ts';
import { type Written, writeRequest } from './statusWrite.ts';
import { hasEnded, readyOf } from './terminal.ts';

export interface Ending {
  readonly ready: boolean;
  readonly reason: Reason;
  readonly message: string;
  /** Status fields that name the result: `{ dataRef: … }`. */
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

// The API allows 32,768 characters; an error text of somebody else may be longer.
const MAX_MESSAGE = 32_768;

/** The status a request ends with. A completion that is already there stays. */
export function buildEnd(request: RequestObject, ending: Ending, now: Instant): JsonObject {
  const time = formatTime(now);
  const status = ending.ready ? 'True' : 'False';
  const before = readyOf(request);
  return {
    completionTimestamp: request.status?.completionTimestamp ?? time,
    conditions: [
      {
        type: READY,
        status,
        reason: ending.reason,
        message: ending.message.slice(0, MAX_MESSAGE),
        lastTransitionTime: (before?.status === status ? before.lastTransitionTime : undefined) ?? time,
      },
    ],
    ...ending.result,
  };
}

/** Ends the request, unless it has ended: then whoever ended it was right. */
export async function finishRequest<T extends RequestObject>(
  pass: Pass,
  rules: RequestRules<T>,
  request: T,
  ending: Ending,
): Promise<Outcome> {
  const written = await writeRequest(pass, rules, request, {
    subresource: 'status',
    patch: (current) =>
      hasEnded(current, rules.ttl.mode) ? undefined : { status: buildEnd(current, ending, pass.now) },
  });
  if (written.kind === 'written') announce(pass, request, ending);
  return outcomeOfWrite(written, (ended) => setTTLAnnotation(pass, rules, ended));
}

function announce(pass: Pass, request: RequestObject, { ready, reason, message }: Ending): void {
  const type = ready ? 'Normal' : 'Warning';
  if (!pass.dryRun) pass.event(request, { type, reason, action: 'Finish', note: message });
  else {
    const note = `would end with Ready=${ready ? 'True' : 'False'} ${reason}: ${message} (dry run)`;
    pass.event(request, { type, reason: 'WouldFinish', action: 'Finish', note });
  }
}

/** Writes down the TTL that applied when the request ended. Idempotent; never overwrites. */
export async function setTTLAnnotation<T extends RequestObject>(
  pass: Pass,
  rules: RequestRules<T>,
  request: T,
): Promise<Outcome> {
  const written = await writeRequest(pass, rules, request, {
    patch: (current) =>
      current.metadata.annotations?.[rules.annotationKey] === undefined
        ? { metadata: { annotations: { [rules.annotationKey]: rules.ttl.text } } }
        : undefined,
  });
  return outcomeOfWrite(written, async () => settled());
}

/** Puts InvalidTTL in place of how the request ended: the one rewrite of an end there is. */
export async function markInvalidTtl<T extends RequestObject>(
  pass: Pass,
  rules: RequestRules<T>,
  request: T,
  message: string,
): Promise<Outcome> {
  const written = await writeRequest(pass, rules, request, {
    subresource: 'status',
    patch: (current) => {
      if (
        current.metadata.annotations?.[rules.annotationKey] !==
        request.metadata.annotations?.[rules.annotationKey]
      )
        return undefined;
      const ready = readyOf(current);
      if (ready?.reason === Reason.InvalidTTL && ready.message === message) return undefined;
      return { status: buildEnd(current, { ready: false, reason: Reason.InvalidTTL, message }, pass.now) };
    },
  });
  return outcomeOfWrite(written, async () => settled());
}

function outcomeOfWrite<T extends RequestObject>(
  written: Written<T>,
  then: (request: T) => Promise<Outcome>,
): Promise<Outcome> | Outcome {
  switch (written.kind) {
    case 'written':
    case 'unneeded':
      return then(written.request);
    case 'gone':
      return settled();
    case 'not':
      return written.outcome;
    default:
      return assertNever(written);
  }
}
