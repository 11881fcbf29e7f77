// Matches writes with webhooks and policies: rules first, then selectors, then conditions.

import type { Evaluation } from '@lapse/cel/cel';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Call, isOfCollection } from '../../context.ts';
import type { Resource } from '../../resources/resource.ts';
import { selects } from '../../strategies/labelSelector.ts';
import { objects, part, text, texts } from '../../strategies/values.ts';
import type { Write } from '../write.ts';

export interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
  /** Resource names; empty for all. Only policies have them. */
  readonly names: readonly string[];
}

/** The match criteria of a webhook, a policy or a binding. */
export interface Criteria {
  readonly rules: readonly Rule[];
  readonly namespaceSelector: JsonObject;
  readonly objectSelector: JsonObject;
  readonly matchPolicy: string;
}

export const readRules = (from: JsonObject, field: string): Rule[] =>
  objects(from, field).map((rule) => ({
    operations: texts(rule, 'operations'),
    apiGroups: texts(rule, 'apiGroups'),
    apiVersions: texts(rule, 'apiVersions'),
    resources: texts(rule, 'resources'),
    scope: text(rule, 'scope') || '*',
    names: texts(rule, 'resourceNames'),
  }));

/** `field`: the field that contains the rules. */
export const readCriteria = (from: JsonObject, field: string): Criteria => ({
  rules: readRules(from, field),
  namespaceSelector: part(from, 'namespaceSelector'),
  objectSelector: part(from, 'objectSelector'),
  matchPolicy: text(from, 'matchPolicy') || 'Equivalent',
});

/** `unknown`: a condition could not be evaluated; the failure policy applies. */
export type Match =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  | { readonly kind: 'unknown'; readonly why: string };

const hasOrAll = (values: readonly string[], value: string): boolean =>
  values.includes('*') || values.includes(value);

/**
 * The resource that the rules match: the requested one or, except when `matchPolicy` is Exact, another version or
 * group of the same objects.
 */
export function ruledAs(
  { rules, matchPolicy }: Pick<Criteria, 'rules' | 'matchPolicy'>,
  call: Call,
  write: Write,
): Resource | undefined {
  const { resource, core } = call;
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
    fitsResource(rule.resources, plural, call.subresource ?? '') &&
    fitsName(rule.names, call, write)
  );
}

/** A deletecollection request names no object. */
const fitsName = (names: readonly string[], call: Call, write: Write): boolean =>
  names.length === 0 || (!isOfCollection(call, write) && names.includes(write.name));

function fitsResource(resources: readonly string[], resource: string, subresource: string): boolean {
  return resources.some((pattern) => {
    const [name, sub = ''] = pattern.split('/');
    return (name === '*' || name === resource) && (sub === '*' || sub === subresource);
  });
}

/** Checks the labels of the namespace, and of the object before or after the write. */
export function isSelected(
  criteria: Pick<Criteria, 'namespaceSelector' | 'objectSelector'>,
  call: Call,
  { object, old }: Write,
): boolean {
  return (
    isNamespaceSelected(criteria.namespaceSelector, call, object ?? old) &&
    [object, old].some((one) => one !== undefined && selects(criteria.objectSelector, labelsOf(one)) === true)
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

// For all conditions of a webhook or policy together.
const COST_BUDGET = 2_500_000;
export const OVER_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** The message of an evaluation error. */
export const evaluationError = (expression: string, why: string): string =>
  `expression '${expression}' resulted in error: ${why}`;

/** One false condition means no match, regardless of errors in others, except when the budget is exceeded. */
export function evaluateConditions(
  conditions: readonly string[],
  evaluate: (expression: string) => Pick<Evaluation, 'kind' | 'cost'> & { value?: unknown; message?: string },
): Match {
  const problems = new Set<string>();
  let left = COST_BUDGET;
  let isFalse = false;
  for (const expression of conditions) {
    const outcome = evaluate(expression);
    left -= outcome.cost;
    if (left < 0) return { kind: 'unknown', why: OVER_BUDGET };
    if (outcome.kind === 'value') isFalse ||= outcome.value === false;
    else problems.add(evaluationError(expression, outcome.message!));
  }
  if (isFalse) return { kind: 'no' };
  if (problems.size === 0) return { kind: 'yes' };
  const [first = '', ...others] = problems;
  return { kind: 'unknown', why: others.length === 0 ? first : `[${[first, ...others].join(', ')}]` };
}
