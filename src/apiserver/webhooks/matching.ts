// Which webhooks a write concerns: rules first, then selectors, then conditions.

import type { JsonObject } from '#api/json';
import { asJson, type KubeObject } from '#api/object';
import { type Bindings, compile } from '#cel/cel';
import type { Write } from '../admission.ts';
import type { Call } from '../context.ts';
import type { Resource } from '../resources/resource.ts';
import { hookEnvironment } from '../strategies/admission/matchConditions.ts';
import { selects } from '../strategies/labelSelector.ts';
import type { Rule, Webhook } from './configuration.ts';

/** `unknown`: a condition could not be evaluated; the failure policy decides. */
export type Match =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  | { readonly kind: 'unknown'; readonly why: string };

// What decides about writes is not itself decided about.
const EXEMPT_GROUP = 'admissionregistration.k8s.io';

const hasOrAll = (values: readonly string[], value: string): boolean =>
  values.includes('*') || values.includes(value);

/** The resource as whose the rules mean the write: its own or, unless they insist, one that shows the same objects. */
export function ruledAs({ rules, matchPolicy }: Webhook, call: Call, write: Write): Resource | undefined {
  const { resource, core } = call;
  if (resource.group === EXEMPT_GROUP) return undefined;
  if (rules.some((rule) => fits(rule, resource, call, write))) return resource;
  if (matchPolicy === 'Exact') return undefined;
  const others = [...core.registry.all()].filter(({ storage }) => storage === resource.storage);
  for (const rule of rules) {
    const other = others.find((candidate) => fits(rule, candidate, call, write));
    if (other !== undefined) return other;
  }
  return undefined;
}

function fits(rule: Rule, { group, version, plural, namespaced }: Resource, call: Call, write: Write) {
  const scope = namespaced ? 'Namespaced' : 'Cluster';
  return (
    hasOrAll(rule.operations, write.operation) &&
    hasOrAll(rule.apiGroups, group) &&
    hasOrAll(rule.apiVersions, version) &&
    (rule.scope === '*' || rule.scope === scope) &&
    fitsResource(rule.resources, plural, call.subresource ?? '')
  );
}

function fitsResource(resources: readonly string[], resource: string, subresource: string): boolean {
  return resources.some((pattern) => {
    const [name, sub = ''] = pattern.split('/');
    return (name === '*' || name === resource) && (sub === '*' || sub === subresource);
  });
}

/** Labels of the namespace, and of the object before or after the write. */
export function isSelected(webhook: Webhook, call: Call, { object, old }: Write): boolean {
  return (
    isNamespaceSelected(webhook.namespaceSelector, call, object ?? old) &&
    [object, old].some((one) => one !== undefined && selects(webhook.objectSelector, labelsOf(one)) === true)
  );
}

const labelsOf = (object: KubeObject): Record<string, string> => object.metadata.labels ?? {};

function isNamespaceSelected(selector: JsonObject, call: Call, object: KubeObject | undefined): boolean {
  if (Object.keys(selector).length === 0) return true;
  if (call.resource.storage === 'namespaces')
    return object !== undefined && selects(selector, labelsOf(object)) === true;
  if (!call.namespace) return true;
  const namespace = call.core.store.get('namespaces', call.namespace)?.object;
  return namespace !== undefined && selects(selector, labelsOf(namespace)) === true;
}

// Of all conditions of a webhook together.
const COST_BUDGET = 2_500_000;
const OVER_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** One false condition is a no, whatever the others say; unless together they cost too much. */
export function evaluateConditions(webhook: Webhook, request: JsonObject, { object, old }: Write): Match {
  const problems = new Set<string>();
  const bindings = {
    object: object === undefined ? null : asJson(object),
    oldObject: old === undefined ? null : asJson(old),
    request,
  };
  let left = COST_BUDGET;
  let isFalse = false;
  for (const { expression } of webhook.matchConditions) {
    const outcome = evaluate(expression, bindings);
    left -= outcome.cost;
    if (left < 0) return { kind: 'unknown', why: OVER_BUDGET };
    if (outcome.kind === 'value') isFalse ||= outcome.value === false;
    else problems.add(`expression '${expression}' resulted in error: ${outcome.message}`);
  }
  if (isFalse) return { kind: 'no' };
  if (problems.size === 0) return { kind: 'yes' };
  const [first = '', ...others] = problems;
  return { kind: 'unknown', why: others.length === 0 ? first : `[${[first, ...others].join(', ')}]` };
}

function evaluate(expression: string, bindings: Bindings) {
  const compiled = compile(expression, hookEnvironment());
  if (compiled.kind === 'invalid') return { kind: 'error' as const, message: compiled.message, cost: 0 };
  return compiled.program.evaluate(bindings);
}
