// Request deadline of a write: the timeout of the client, limited to the maximum of kube-apiserver. Only admission
// waits; after the deadline nothing is written.

import { type Instant, isDue, type Millis, minus, plus, seconds } from '@lapse/base/instant';
import { ApiError } from '@lapse/kube/api/status';
import type { Call } from '../context.ts';
import { type Query, timeoutParam } from './query.ts';

const MAX_TIMEOUT = seconds(34);
/** Limit for deletecollection. */
const MAX_COLLECTION_TIMEOUT = seconds(60);

// Keyed by the query object, which is created once per request.
const deadlines = new WeakMap<Query, Instant>();

/** The time starts with the first call for a request. */
function deadlineOf(call: Call): Instant {
  const { query, core } = call;
  let deadline = deadlines.get(query);
  if (deadline === undefined) {
    deadline = plus(core.clock.now(), timeLimit(call));
    deadlines.set(query, deadline);
  }
  return deadline;
}

function timeLimit({ query, request, name }: Call): Millis {
  const limit = request.method === 'DELETE' && name === undefined ? MAX_COLLECTION_TIMEOUT : MAX_TIMEOUT;
  const wanted = timeoutParam(query);
  return wanted !== undefined && wanted > 0 && wanted < limit ? wanted : limit;
}

export const timeLeft = (call: Call): Millis => minus(deadlineOf(call), call.core.clock.now());

/** Throws 504 after the deadline. */
export function checkDeadline(call: Call): void {
  if (isDue(deadlineOf(call), call.core.clock.now())) throw timedOut();
}

/** Resolves like `run`, or rejects with 504 at the deadline. */
export function withinDeadline<T>(call: Call, run: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const cancel = call.core.clock.wakeAt(deadlineOf(call), () => reject(timedOut()));
  run.then(resolve, reject);
  return promise.finally(cancel);
}

const timedOut = (): ApiError => {
  const text = 'Timeout: request did not complete within requested timeout - context deadline exceeded';
  return new ApiError(504, 'Timeout', text, {});
};
