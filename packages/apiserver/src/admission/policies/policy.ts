// ValidatingAdmissionPolicies and their bindings, read from the store, with expressions compiled once per version of
// the object.

import type { JsonObject } from '@lapse/kube/api/json';
import { specOf } from '../../resources/resource.ts';
import type { Store } from '../../store/store.ts';
import type { Stored } from '../../store/stored.ts';
import type { Expression } from '../../strategies/admission/expressions.ts';
import { PolicyCompiler } from '../../strategies/admission/policyCompiler.ts';
import { child, objects, text, texts } from '../../strategies/values.ts';
import { type Criteria, type Rule, readCriteria, readRules } from '../webhooks/matching.ts';

export interface PolicyCriteria extends Criteria {
  readonly excluded: readonly Rule[];
}

export interface Validation {
  readonly expression: Expression;
  readonly message: string;
  /** Undefined: the message is static. */
  readonly computedMessage: Expression | undefined;
  readonly reason: string;
}

export interface Variable {
  readonly name: string;
  readonly expression: Expression;
}

export interface Policy {
  readonly name: string;
  readonly criteria: PolicyCriteria;
  readonly ignoresFailure: boolean;
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined;
  readonly variables: readonly Variable[];
  readonly conditions: readonly Expression[];
  readonly validations: readonly Validation[];
  /** The values of audit annotations. There is no audit log, so only their errors matter. */
  readonly annotations: readonly Expression[];
}

export interface ParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: JsonObject | undefined;
  readonly deniesMissing: boolean;
}

export interface Binding {
  readonly name: string;
  readonly policyName: string;
  /** Undefined: the binding matches every write that the policy matches. */
  readonly criteria: PolicyCriteria | undefined;
  readonly paramRef: ParamRef | undefined;
  readonly actions: readonly string[];
}

export interface BoundPolicy {
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
}

const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';
const BINDINGS = 'validatingadmissionpolicybindings.admissionregistration.k8s.io';

/** False while no policy can apply; then no other code of this folder runs. */
export const hasPolicies = (store: Store): boolean => store.hasHeads(BINDINGS) && store.hasHeads(POLICIES);

/** Policies with bindings; both in the order of their names. */
export function boundPolicies(store: Store): BoundPolicy[] {
  const bindings = [...store.heads(BINDINGS)].map(readBinding).sort(byName);
  return [...store.heads(POLICIES)]
    .map(readPolicy)
    .sort(byName)
    .flatMap((policy) => {
      const own = bindings.filter(({ policyName }) => policyName === policy.name);
      return own.length === 0 ? [] : [{ policy, bindings: own }];
    });
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1;

/** Caches the result for a stored version for as long as the store keeps the version. */
function perVersion<T>(read: (stored: Stored) => T): (stored: Stored) => T {
  const known = new WeakMap<Stored, { readonly value: T }>();
  return (stored) => {
    const before = known.get(stored);
    if (before) return before.value;
    const value = read(stored);
    known.set(stored, { value });
    return value;
  };
}

const readPolicy = perVersion(({ object }): Policy => {
  const spec = specOf(object);
  const compiler = new PolicyCompiler(spec);
  const paramKind = child(spec, 'paramKind');
  return {
    name: object.metadata.name!,
    criteria: criteriaOf(child(spec, 'matchConstraints') ?? {}),
    ignoresFailure: text(spec, 'failurePolicy') === 'Ignore',
    paramKind: paramKind && { apiVersion: text(paramKind, 'apiVersion'), kind: text(paramKind, 'kind') },
    variables: objects(spec, 'variables').map((variable) => {
      const name = text(variable, 'name');
      return { name, expression: compiler.variable(name, text(variable, 'expression')) };
    }),
    conditions: objects(spec, 'matchConditions').map((c) => compiler.condition(text(c, 'expression'))),
    validations: objects(spec, 'validations').map((validation) => readValidation(validation, compiler)),
    annotations: objects(spec, 'auditAnnotations').map((a) =>
      compiler.annotation(text(a, 'valueExpression')),
    ),
  };
});

function readValidation(validation: JsonObject, compiler: PolicyCompiler): Validation {
  const computed = text(validation, 'messageExpression');
  return {
    expression: compiler.validation(text(validation, 'expression')),
    message: text(validation, 'message').trim(),
    computedMessage: computed === '' ? undefined : compiler.message(computed),
    reason: text(validation, 'reason') || 'Invalid',
  };
}

const readBinding = perVersion(({ object }): Binding => {
  const spec = specOf(object);
  const match = child(spec, 'matchResources');
  const ref = child(spec, 'paramRef');
  return {
    name: object.metadata.name!,
    policyName: text(spec, 'policyName'),
    criteria: match && criteriaOf(match),
    paramRef: ref && {
      name: text(ref, 'name'),
      namespace: text(ref, 'namespace'),
      selector: child(ref, 'selector'),
      deniesMissing: text(ref, 'parameterNotFoundAction') === 'Deny',
    },
    actions: texts(spec, 'validationActions'),
  };
});

const criteriaOf = (from: JsonObject): PolicyCriteria => ({
  ...readCriteria(from, 'resourceRules'),
  excluded: readRules(from, 'excludeResourceRules'),
});
