// Runs the sequence on a server and records the answers, without values that always differ.

import { isDeepStrictEqual } from 'node:util';
import { realClock } from '@lapse/base/clock';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { buildRequest, exchange, pause } from '../replay/exchange.ts';
import type { Target } from '../replay/types.ts';
import { IMPERSONATION_STEPS } from './impersonationSteps.ts';
import { ROLE_STEPS } from './roleSteps.ts';
import type { AccessStep } from './stepKit.ts';
import { STEPS } from './steps.ts';

export interface Answered {
  readonly step: string;
  readonly status: number;
  readonly answer: Json;
}

// A server observes new roles a moment after they are stored.
const ATTEMPTS = 50;
const PAUSE_MS = 20;

export interface RunOptions {
  /** A request that is refused unexpectedly, or with another message, is repeated. */
  readonly expected?: readonly Answered[];
  /** Without an expectation, a refused request is repeated once after this time. */
  readonly settleMs?: number;
}

export type Run = (target: Target, namespace: string, options?: RunOptions) => Promise<Answered[]>;

const runOf =
  (steps: readonly AccessStep[]): Run =>
  async (target, namespace, { expected = [], settleMs = 0 } = {}) => {
    const tokens = await makeAccount(target, namespace);
    const ask = async (step: AccessStep): Promise<Answered> => {
      const answer = await send(target, namespace, step, tokens[step.as]);
      return {
        step: `${step.as} ${step.method} ${step.path}`,
        status: answer.status,
        answer: essence(answer.body as Json, answer.status, namespace),
      };
    };
    const seen: Answered[] = [];
    for (const [i, step] of steps.entries()) {
      let answer = await ask(step);
      const wanted = expected[i];
      for (let more = ATTEMPTS; more > 0 && wanted && isRefusedOtherwise(answer, wanted); more--) {
        await pause(realClock, PAUSE_MS);
        answer = await ask(step);
      }
      if (!wanted && settleMs > 0 && answer.status === 403) {
        await pause(realClock, settleMs);
        answer = await ask(step);
      }
      seen.push(answer);
    }
    return seen;
  };

export const runAccess = runOf(STEPS);
export const runImpersonation = runOf(IMPERSONATION_STEPS);
export const runRoles = runOf(ROLE_STEPS);

const isRefusedOtherwise = (answer: Answered, wanted: Answered): boolean =>
  answer.status === 403 && !isDeepStrictEqual(answer, wanted);

function send(target: Target, namespace: string, step: AccessStep, token?: string) {
  const text = JSON.stringify(step).replaceAll('NS', namespace);
  const { method, path, body, headers = {}, as } = JSON.parse(text) as AccessStep;
  const action = { method, path, ...(body === undefined ? {} : { body }) };
  const request = buildRequest({ ...action, ...(as === 'nobody' ? { as } : {}) }, {}, target);
  const signed = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
  return exchange({ ...request, headers: { ...request.headers, ...signed } }, target);
}

/** The service account of a sequence, and its two tokens: the second is bound to a node. */
async function makeAccount(target: Target, namespace: string): Promise<Partial<Record<string, string>>> {
  const make = (path: string, body: JsonObject) =>
    send(target, namespace, { as: 'admin', method: 'POST', path, body });
  const issue = async (spec: JsonObject): Promise<string> => {
    const { body } = await make('/api/v1/namespaces/NS/serviceaccounts/robot/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec,
    });
    return ((body as JsonObject)['status'] as JsonObject)['token'] as string;
  };
  await make('/api/v1/namespaces', named('v1', 'Namespace', namespace));
  await make('/api/v1/namespaces/NS/serviceaccounts', named('v1', 'ServiceAccount', 'robot'));
  await make('/api/v1/nodes', named('v1', 'Node', 'node-of-NS'));
  return {
    account: await issue({}),
    agent: await issue({ boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: 'node-of-NS' } }),
  };
}

const named = (apiVersion: string, kind: string, name: string): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
});

/** Refusals in full; of allowed requests only the decisions. */
function essence(body: Json, status: number, namespace: string): Json {
  if (!isObject(body)) return null;
  if (status >= 300) {
    const { message, reason, details } = body;
    return softened(
      { message: message ?? null, reason: reason ?? null, details: details ?? null },
      namespace,
    );
  }
  const { kind, status: result } = body;
  return softened({ kind: kind ?? null, ...(isObject(result) ? { status: result } : {}) }, namespace);
}

const softened = (value: Json, namespace: string): Json =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(namespace, 'NS')
      // Several bindings may grant the same right; the server names any of them.
      .replace(/allowed by RoleBinding \\"[^"]*"/g, 'allowed by RoleBinding \\"…\\"')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'),
  ) as Json;
