// Stores the policies of all cases on a server, waits until the server has observed them, writes, and records the
// answers.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { type Ask, asker } from '../model/ask.ts';
import type { Target } from '../replay/types.ts';
import { map } from '../webhooks/builders.ts';
import { essence } from '../webhooks/run.ts';
import type { PolicyCase } from './builders.ts';
import { CASES } from './cases.ts';

export interface RunResult {
  readonly name: string;
  /** Answers to policies and bindings that were refused. */
  readonly refused: readonly Json[];
  readonly answers: readonly Json[];
}

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const POLICIES = `${GROUP}/validatingadmissionpolicies`;
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;

export async function runPolicies(target: Target): Promise<RunResult[]> {
  const ask = asker(target);
  const refused: Json[][] = [];
  for (const [i, given] of CASES.entries()) refused.push(await prepare(ask, given, namespaceOf(i)));
  await untilEnforced(ask);
  const results: RunResult[] = [];
  for (const [i, given] of CASES.entries()) {
    const namespace = namespaceOf(i);
    const answers: Json[] = [];
    for (const step of given.writes) {
      const { method, path, body, type } = inside(namespace, step as unknown as JsonObject);
      const answer = await ask(method as string, path as string, body as JsonObject, type as string);
      answers.push(shown(answer, namespace));
    }
    results.push({ name: given.name, refused: refused[i]!, answers });
  }
  return results;
}

const namespaceOf = (i: number): string => `vap-${String(i).padStart(3, '0')}`;

/** `NS` is the namespace of the case. */
const inside = (namespace: string, value: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(value).replaceAll('NS', namespace)) as JsonObject;

const shown = ({ status, body, headers }: Awaited<ReturnType<Ask>>, namespace: string): Json =>
  essence(status, body as Json, { namespace, url: 'https://none', warnings: headers['warning'] ?? [] });

async function prepare(ask: Ask, given: PolicyCase, namespace: string): Promise<Json[]> {
  const labels = { team: 'red' };
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } };
  await ask('POST', '/api/v1/namespaces', own);
  for (const step of given.before ?? []) {
    const { method, path, body } = inside(namespace, step as unknown as JsonObject);
    const answer = await ask(method as string, path as string, body as JsonObject);
    if (answer.status >= 300) throw new Error(`${given.name}: ${JSON.stringify(answer.body)}`);
  }
  const refused: Json[] = [];
  for (const [i, { spec, bindings = [{}] }] of given.policies.entries()) {
    const name = `${namespace}-${i}`;
    const answer = await ask('POST', POLICIES, policyOf(name, namespace, spec));
    if (answer.status !== 201) refused.push(shown(answer, namespace));
    for (const [k, binding] of bindings.entries()) {
      const bound = await ask('POST', BINDINGS, bindingOf(`${name}-${k}`, name, inside(namespace, binding)));
      if (bound.status !== 201) refused.push(shown(bound, namespace));
    }
  }
  return refused;
}

function policyOf(name: string, namespace: string, given: JsonObject): JsonObject {
  const spec = inside(namespace, given);
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
  const matchConstraints = {
    resourceRules: rules,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    ...(spec['matchConstraints'] as JsonObject | undefined),
  };
  const kind = 'ValidatingAdmissionPolicy';
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    spec: { ...spec, matchConstraints },
  };
}

const bindingOf = (name: string, policyName: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'], ...spec },
});

const PROBE = 'vap-probe';

/** A server observes policies in the order of their creation: when the last one is enforced, all are. */
async function untilEnforced(ask: Ask): Promise<void> {
  await ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: PROBE } });
  await ask('POST', POLICIES, policyOf(PROBE, PROBE, { validations: [{ expression: 'false' }] }));
  await ask('POST', BINDINGS, bindingOf(PROBE, PROBE, {}));
  for (let i = 0; i < 200; i++) {
    const { status } = await ask(
      'POST',
      `/api/v1/namespaces/${PROBE}/configmaps?dryRun=All`,
      map(`probe-${i}`),
    );
    if (status === 422) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the policies are never enforced');
}
