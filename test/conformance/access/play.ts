// Plays the conversation on a server and keeps what was answered, without what differs by nature.

import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from '#api/json';
import { realClock } from '#base/clock';
import { buildRequest, exchange, pause } from '../replay/exchange.ts';
import type { Target } from '../replay/types.ts';
import { type AccessStep, STEPS } from './steps.ts';

export interface Answered {
  readonly step: string;
  readonly status: number;
  readonly answer: Json;
}

// A server learns of new roles a moment after they are stored.
const ATTEMPTS = 50;
const PAUSE_MS = 20;

/** With `expected`, what is refused and should not be, or in other words, is asked again. */
export async function playAccess(
  target: Target,
  namespace: string,
  expected: readonly Answered[] = [],
): Promise<Answered[]> {
  const send = async (step: AccessStep, token?: string) => {
    const text = JSON.stringify(step).replaceAll('NS', namespace);
    const { method, path, body, headers = {}, as } = JSON.parse(text) as AccessStep;
    const signed = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
    const action = { method, path, headers: signed, ...(body === undefined ? {} : { body }) };
    return exchange(buildRequest({ ...action, ...(as === 'nobody' ? { as } : {}) }, {}, target), target);
  };
  const admin = (method: string, path: string, body: JsonObject) => send({ as: 'admin', method, path, body });
  await admin('POST', '/api/v1/namespaces', named('v1', 'Namespace', namespace));
  await admin('POST', '/api/v1/namespaces/NS/serviceaccounts', named('v1', 'ServiceAccount', 'robot'));
  const { body } = await admin('POST', '/api/v1/namespaces/NS/serviceaccounts/robot/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  });
  const token = ((body as JsonObject)['status'] as JsonObject)['token'] as string;
  const seen: Answered[] = [];
  const ask = async (step: AccessStep): Promise<Answered> => {
    const answer = await send(step, step.as === 'account' ? token : undefined);
    return {
      step: `${step.as} ${step.method} ${step.path}`,
      status: answer.status,
      answer: essence(answer.body as Json, answer.status, namespace),
    };
  };
  for (const [i, step] of STEPS.entries()) {
    let answer = await ask(step);
    const wanted = expected[i] ?? answer;
    for (
      let more = ATTEMPTS;
      more > 0 && answer.status === 403 && !isDeepStrictEqual(answer, wanted);
      more--
    ) {
      await pause(realClock, PAUSE_MS);
      answer = await ask(step);
    }
    seen.push(answer);
  }
  return seen;
}

const named = (apiVersion: string, kind: string, name: string): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
});

/** Refusals whole; of what was allowed only the verdicts. */
function essence(body: Json, status: number, namespace: string): Json {
  if (!isObject(body)) return null;
  if (status >= 300) {
    const { message, reason, details } = body;
    return softened(
      { message: message ?? null, reason: reason ?? null, details: details ?? null },
      namespace,
    );
  }
  const { kind, status: verdict } = body;
  return softened({ kind: kind ?? null, ...(isObject(verdict) ? { status: verdict } : {}) }, namespace);
}

const softened = (value: Json, namespace: string): Json =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(namespace, 'NS')
      // Several bindings may grant the same; any of them is named.
      .replace(/allowed by RoleBinding \\"[^"]*"/g, 'allowed by RoleBinding \\"…\\"')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'),
  ) as Json;
