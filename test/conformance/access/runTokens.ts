// Runs the sequence about tokens on a server and records the answers, without values that always differ.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { buildRequest, exchange } from '../replay/exchange.ts';
import type { Answered, Run } from './run.ts';
import { TOKEN_STEPS, type TokenStep } from './tokenSteps.ts';

export const runTokens: Run = async (target, namespace) => {
  const kept = new Map<string, string>();
  const send = (step: TokenStep) => {
    const filled = JSON.stringify(step)
      .replaceAll('NS', namespace)
      .replace(/\{\{(\w+)\}\}/g, (_, name: string) => kept.get(name)!);
    const { method, path, body, authorization } = JSON.parse(filled) as TokenStep;
    const headers = authorization === undefined ? {} : { authorization };
    const action = { method, path, headers, ...(body === undefined ? {} : { body }) };
    return exchange(buildRequest(action, {}, target), target);
  };
  const make = (path: string, kind: string, name: string) =>
    send({ method: 'POST', path, body: { apiVersion: 'v1', kind, metadata: { name } } });
  await make('/api/v1/namespaces', 'Namespace', namespace);
  await make('/api/v1/namespaces/NS/serviceaccounts', 'ServiceAccount', 'robot');
  const seen: Answered[] = [];
  for (const step of TOKEN_STEPS) {
    const { status, body } = await send(step);
    if (step.keep) kept.set(step.keep, ((body as JsonObject)['status'] as JsonObject)['token'] as string);
    const said = step.authorization ?? JSON.stringify(step.body ?? null);
    seen.push({
      step: `${step.method} ${step.path} ${said}`,
      status,
      answer: softened(essence(body as Json), namespace, kept),
    });
  }
  return seen;
};

const ABOUT_RIGHTS = /^(Token|SelfSubject|(Local)?Subject)/;

/** Refusals, tokens and reviews in full; of other objects only the kind. */
function essence(body: Json): Json {
  if (!isObject(body)) return null;
  const kind = String(body['kind']);
  if (!ABOUT_RIGHTS.test(kind) && body['status'] !== 'Failure') return { kind };
  const { managedFields: _, ...metadata } = isObject(body['metadata']) ? body['metadata'] : {};
  return { ...body, metadata };
}

const softened = (value: Json, namespace: string, kept: ReadonlyMap<string, string>): Json => {
  let text = JSON.stringify(value).replaceAll(namespace, 'NS');
  for (const [name, token] of kept) text = text.replaceAll(token, `{{${name}}}`);
  return JSON.parse(
    text
      // The real server records managers before it validates.
      .replace(/,?\\*"managedFields\\*":\[.*?\](?=\}: must be empty)/g, '')
      .replace(/"token":"eyJ[^"]*"/g, '"token":"TOKEN"')
      .replace(/20\d\d-\d\d-\d\dT[0-9:]+Z/g, 'TIME')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'),
  ) as Json;
};
