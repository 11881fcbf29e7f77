// Integrates CEL. Rules (x-kubernetes-validations) are checked when a CRD is written and evaluated when an object is
// written; packages/apiserver/src/schema/rules does both.

import { estimateCost } from '@lapse/cel/cel';
import type { FieldError } from '@lapse/kube/api/fieldErrors';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import { checkSchemaRules, type RuleCheck as SchemaRuleCheck } from '#schema/rules/check';
import { checkDefault, compileSchemaRules, type RuleInput, type RuleOutcome } from '#schema/rules/evaluate';

export type { RuleInput };

/** A schema of a CRD whose expressions are checked. */
export type RuleCheck = Omit<SchemaRuleCheck, 'estimate'>;

/** The compiled rules of one version. */
export type CompiledRules = (input: RuleInput) => RuleOutcome;

export interface RuleEngine {
  check(request: RuleCheck): FieldError[];
  /** Evaluates the rules for a default of the schema. */
  checkDefault(schema: JsonObject, value: Json, path: string): FieldError[];
  /** Undefined when the schema has no rules. */
  compile(schema: JsonObject): CompiledRules | undefined;
}

export const ruleEngine: RuleEngine = {
  check: (request) => checkSchemaRules({ ...request, estimate: (program) => estimateCost(program).max }),
  checkDefault,
  compile: compileSchemaRules,
};
