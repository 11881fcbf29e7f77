// Registers the webhooks of a case on a server, writes, and records answers and admission requests.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type Ask, asker } from '../model/ask.ts';
import type { Target } from '../replay/types.ts';
import type { HookCase, HookSpec } from './builders.ts';
import type { Hooks } from './hooks.ts';

export interface RunResult {
  readonly name: string;
  readonly answers: readonly Json[];
  /** The admission requests of the webhooks; validating ones in any order. */
  readonly asked: readonly string[];
}

const GROUP = '/apis/admissionregistration.k8s.io/v1';

export async function runHooks(
  target: Target,
  hooks: Hooks,
  given: HookCase,
  index: number,
): Promise<RunResult> {
  const ask = asker(target);
  const namespace = `hooks-${index}`;
  const namespaces = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  await ask('POST', '/api/v1/namespaces', namespaces);
  for (const [i, hook] of given.hooks.entries()) await register(ask, hooks, hook, { namespace, i });
  if (given.hooks.length > 0) await untilCalled(ask, hooks, given, namespace);
  const before = hooks.asked.length;
  const answers: Json[] = [];
  for (const { method, path, body, type } of given.writes) {
    const sent = body && inside(namespace, body);
    const answer = await ask(method, path.replaceAll('NS', namespace), sent, type);
    const warnings = answer.headers['warning'] ?? [];
    answers.push(
      given.otherMessages === true
        ? answer.status
        : essence(answer.status, answer.body as Json, { namespace, url: hooks.url, warnings }),
    );
  }
  const asked = hooks.asked
    .slice(before)
    .filter((line) => !line.includes(PROBE))
    .map((line) => line.replaceAll(namespace, 'NS'))
    .sort();
  for (const [i, hook] of given.hooks.entries())
    await ask('DELETE', `${pathOf(hook)}/${nameOf(namespace, i)}`);
  return { name: given.name, answers, asked };
}

/** `NS` is the namespace of the case. */
const inside = (namespace: string, value: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(value).replaceAll('NS', namespace)) as JsonObject;
const pathOf = ({ phase }: HookSpec) => `${GROUP}/${phase.toLowerCase()}webhookconfigurations`;
const nameOf = (namespace: string, i: number) => `${namespace}-${i}`;
const PROBE = 'probe-of-the-test';

async function register(
  ask: Ask,
  { url, caBundle }: Hooks,
  hook: HookSpec,
  { namespace, i }: { namespace: string; i: number },
): Promise<void> {
  const rules = hook.rules ?? [
    { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
  ];
  const configuration: JsonObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${hook.phase}WebhookConfiguration`,
    metadata: { name: nameOf(namespace, i) },
    webhooks: [
      {
        name: `hook-${i}.example.com`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: url + hook.path, caBundle },
        rules,
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        ...inside(namespace, hook.more ?? {}),
      },
      // Shows when the server has observed the configuration.
      {
        name: `probe-${i}.example.com`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: `${url}/deny-why`, caBundle },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      },
    ],
  };
  const { status, body } = await ask('POST', pathOf(hook), configuration);
  if (status !== 201) throw new Error(`the webhook was not registered: ${JSON.stringify(body)}`);
}

async function untilCalled(ask: Ask, hooks: Hooks, given: HookCase, namespace: string): Promise<void> {
  const probes = new Set(given.hooks.map(({ phase }) => phase)).size;
  for (let i = 0; i < 200; i++) {
    const before = hooks.asked.length;
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: PROBE } };
    await ask('POST', `/api/v1/namespaces/${namespace}/secrets`, secret);
    // A mutating probe refuses before a validating one is called: one call shows that both are registered.
    if (hooks.asked.length > before && (probes === 1 || i > 5)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the webhooks are never called');
}

interface Surroundings {
  readonly namespace: string;
  readonly url: string;
  readonly warnings: unknown;
}

/** The fields that webhooks change in these cases. */
function shownOf({ labels, managedFields, ownerReferences }: JsonObject): JsonObject {
  const managers = Array.isArray(managedFields) ? managedFields.filter(isObject) : [];
  return {
    labels: labels ?? null,
    managers: managers.map(({ operation, manager }) => `${String(operation)} ${String(manager)}`),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
}

export function essence(status: number, body: Json, { namespace, url, warnings }: Surroundings): Json {
  const object = isObject(body) ? body : {};
  const { message, reason, details, metadata } = object;
  const shown =
    status < 300
      ? shownOf(isObject(metadata) ? metadata : {})
      : { message: message ?? null, reason: reason ?? null, details: details ?? null };
  const text = JSON.stringify({ status, ...shown, warnings: warnings as Json })
    .replaceAll(namespace, 'NS')
    .replaceAll(url, 'HOOKS')
    .replace(/(ResourceVersion in record) \(\d+\)/g, '$1 (VERSION)')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID');
  return JSON.parse(text) as Json;
}
