// Where CEL plugs in. Rules (x-kubernetes-validations) are checked when a definition is written and evaluated when an
// object is; the engine that does both stands here. Until there is one, rules are stored and shown but not enforced.

import type { FieldError } from '#api/fieldErrors';
import type { JsonObject } from '#api/json';

/** A schema of a definition whose expressions are to be checked. */
export interface RuleCheck {
  /** openAPIV3Schema, known to be structural. */
  readonly schema: JsonObject;
  /** Where refusals point: `spec.validation.openAPIV3Schema`. */
  readonly path: string;
  /** Whether nothing is wrong with the schema at this path or below; rules of other schemas are not looked at. */
  readonly sound: (path: string) => boolean;
  /** The schema was there before with the same text: limits on the cost of one expression do not apply. */
  readonly unchanged: boolean;
}

export interface RuleInput {
  readonly object: JsonObject;
  /** Undefined on create: transition rules do not run. */
  readonly old: JsonObject | undefined;
}

export interface RuleOutcome {
  readonly errors: readonly FieldError[];
  /** Rules that are broken where nothing changed. */
  readonly warnings: readonly string[];
}

/** The rules of one version, ready to run. */
export type CompiledRules = (input: RuleInput) => RuleOutcome;

export interface RuleEngine {
  check(request: RuleCheck): FieldError[];
  /** Undefined when the schema has no rules. */
  compile(schema: JsonObject): CompiledRules | undefined;
}

export const ruleEngine: RuleEngine = { check: () => [], compile: () => undefined };
