// Which webhooks a write concerns: rules first, then selectors, then conditions.

import type { JsonObject } from '#api/json';
import { asJson, type KubeObject } from '#api/object';
import { compile } from '#cel/cel';
import type { Write } from '../admission.ts';
import type { Call } from '../context.ts';
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

export function isRuled(webhook: Webhook, call: Call, write: Write): boolean {
  if (call.resource.group === EXEMPT_GROUP) return false;
  return webhook.rules.some((rule) => fits(rule, webhook, call, write));
}

function fits(rule: Rule, { matchPolicy }: Webhook, call: Call, { operation }: Write): boolean {
  const { group, version, namespaced } = call.resource;
  const scope = namespaced ? 'Namespaced' : 'Cluster';
  return (
    hasOrAll(rule.operations, operation) &&
    hasOrAll(rule.apiGroups, group) &&
    // Versions of one resource are equivalent unless the webhook insists.
    (hasOrAll(rule.apiVersions, version) || (matchPolicy !== 'Exact' && isOtherVersion(rule, call))) &&
    (rule.scope === '*' || rule.scope === scope) &&
    fitsResource(rule.resources, call.resource.plural, call.subresource ?? '')
  );
}

const isOtherVersion = (rule: Rule, { core, resource }: Call): boolean =>
  rule.apiVersions.some(
    (version) => core.registry.get(resource.group, version, resource.plural) !== undefined,
  );

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

/** One false condition is a no, whatever the others say. */
export function evaluateConditions(webhook: Webhook, request: JsonObject, { object, old }: Write): Match {
  const problems: string[] = [];
  const bindings = {
    object: object === undefined ? null : asJson(object),
    oldObject: old === undefined ? null : asJson(old),
    request,
  };
  for (const { name, expression } of webhook.matchConditions) {
    const compiled = compile(expression, hookEnvironment());
    if (compiled.kind === 'invalid') {
      problems.push(`expression '${expression}' resulted in error: ${compiled.message}`);
      continue;
    }
    const outcome = compiled.program.evaluate(bindings);
    if (outcome.kind === 'value' && outcome.value === false) return { kind: 'no' };
    if (outcome.kind !== 'value' || outcome.value !== true)
      problems.push(
        `expression '${name}' resulted in error: ${outcome.kind === 'error' ? outcome.message : 'not a bool'}`,
      );
  }
  return problems.length === 0 ? { kind: 'yes' } : { kind: 'unknown', why: problems.join(', ') };
}
