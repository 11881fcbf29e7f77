// Types and helpers of the cases about ValidatingAdmissionPolicies.

import type { JsonObject } from '@lapse/kube/api/json';
import { rule, type WriteStep } from '../webhooks/builders.ts';

export interface PolicyCase {
  readonly name: string;
  /** Written before the policies. */
  readonly before?: readonly WriteStep[];
  readonly policies: readonly PolicySpec[];
  /** NS in bodies and paths is the namespace of the case. */
  readonly writes: readonly WriteStep[];
}

export interface PolicySpec {
  /** Overrides of the default: every operation on ConfigMaps of the namespace, failurePolicy Fail. */
  readonly spec: JsonObject;
  /** Overrides of the default: validationActions Deny. Default: one binding. */
  readonly bindings?: readonly JsonObject[];
}

const validation = (expression: string, more: JsonObject = {}): JsonObject => ({ expression, ...more });

/** A policy with these validations; a string is the expression. */
export const policy = (
  validations: readonly (string | JsonObject)[],
  more: JsonObject = {},
  ...bindings: JsonObject[]
): PolicySpec => ({
  spec: {
    validations: validations.map((one) => (typeof one === 'string' ? validation(one) : one)),
    ...more,
  },
  ...(bindings.length === 0 ? {} : { bindings }),
});

export const failing = (more: JsonObject): JsonObject => validation('false', more);
export const matching = (...rules: JsonObject[]): JsonObject => ({
  matchConstraints: { resourceRules: rules },
});
export const maps = (operations: string[] = ['*'], more: JsonObject = {}): JsonObject =>
  rule(operations, ['configmaps'], more);
export const condition = (...expressions: string[]): JsonObject => ({
  matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
});
export const variables = (all: Readonly<Record<string, string>>): JsonObject => ({
  variables: Object.entries(all).map(([name, expression]) => ({ name, expression })),
});
export const annotations = (all: Readonly<Record<string, string>>): JsonObject => ({
  auditAnnotations: Object.entries(all).map(([key, valueExpression]) => ({ key, valueExpression })),
});
