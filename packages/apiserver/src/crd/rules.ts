// Where CEL plugs in. Rules (x-kubernetes-validations) are checked when a definition is written and evaluated when an
// object is; packages/apiserver/src/schema/rules does both.

import { estimateCost } from '@lapse/cel/cel';
import type { FieldError } from '@lapse/kube/api/fieldErrors';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import { checkSchemaRules, type RuleCheck as SchemaRuleCheck } from '#schema/rules/check';
import { checkDefault, compileSchemaRules, type RuleInput, type RuleOutcome } from '#schema/rules/evaluate';

export type { RuleInput };

/** A schema of a definition whose expressions are to be checked. */
export type RuleCheck = Omit<SchemaRuleCheck, 'estimate'>;

/** The rules of one version, ready to run. */
export type CompiledRules = (input: RuleInput) => RuleOutcome;

export interface RuleEngine {
  check(request: RuleCheck): FieldError[];
  /** What the rules say to a default of the schema. */
  checkDefault(schema: JsonObject, value: Json, path: string): FieldError[];
  /** Undefined when the schema has no rules. */
  compile(schema: JsonObject): CompiledRules | undefined;
}

export const ruleEngine: RuleEngine = {
  check: (request) => checkSchemaRules({ ...request, estimate: (program) => estimateCost(program).max }),
  checkDefault,
  compile: compileSchemaRules,
};
