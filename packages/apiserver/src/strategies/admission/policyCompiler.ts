// Compiles the expressions of one ValidatingAdmissionPolicy in the order of Kubernetes: variables first, each with
// the earlier ones in scope. Validation and evaluation use the same compiler.

import { type CelType, DYN, type Environment, listOf, mapOf } from '@lapse/cel/cel';
import type { JsonObject } from '@lapse/kube/api/json';
import { has, list } from '../values.ts';
import { compileCondition, compileExpression, type Expression, environmentOf } from './expressions.ts';

export class PolicyCompiler {
  readonly #params: boolean;
  /** Undefined when the policy has no variables: then `variables` is not declared. */
  readonly #variables: Map<string, CelType> | undefined;
  readonly #environments = new Map<boolean, Environment>();

  constructor(spec: JsonObject) {
    this.#params = has(spec, 'paramKind');
    this.#variables = list(spec, 'variables').length > 0 ? new Map() : undefined;
  }

  condition(text: string): Expression {
    return compileCondition(text, this.#params);
  }

  /** Declares the variable for all expressions that are compiled later. */
  variable(name: string, text: string): Expression {
    const expression = compileExpression(text, this.#environment(true), []);
    this.#variables?.set(name, expression.kind === 'program' ? declaredType(expression.program.type) : DYN);
    this.#environments.clear();
    return expression;
  }

  validation(text: string): Expression {
    return compileExpression(text, this.#environment(true), ['bool']);
  }

  message(text: string): Expression {
    return compileExpression(text, this.#environment(false), ['string']);
  }

  annotation(text: string): Expression {
    return compileExpression(text, this.#environment(true), ['string', 'null']);
  }

  #environment(authorizer: boolean): Environment {
    const known = this.#environments.get(authorizer);
    if (known) return known;
    const made = environmentOf({ params: this.#params, authorizer, variables: this.#variables });
    this.#environments.set(authorizer, made);
    return made;
  }
}

const KEPT: ReadonlySet<string> = new Set(
  'any bool bytes double duration int null string timestamp uint'.split(' '),
);

/** The type of a variable: structs and library types are dyn for the expressions that use it. */
function declaredType(type: CelType): CelType {
  const [first, second] = type.params.map(declaredType);
  if (type.kind === 'list') return listOf(first!);
  if (type.kind === 'map') return mapOf(first!, second!);
  return KEPT.has(type.kind) && !type.nullable ? type : DYN;
}
