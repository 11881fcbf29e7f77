// CEL in webhooks and policies: the variables of an expression, its result type, and the error messages of
// Kubernetes.

import {
  AUTHORIZER,
  type CelType,
  compile,
  DYN,
  type Environment,
  kubernetesEnvironment,
  type Program,
  RESOURCE_CHECK,
  structOf,
} from '@lapse/cel/cel';
import { type FieldError, internalError, invalid } from '@lapse/kube/api/fieldErrors';
import { isRequestStruct, NAMESPACE, REQUEST, requestField } from './requestTypes.ts';

/** An expression of a stored object. */
export type Expression = { readonly text: string } & (
  | { readonly kind: 'program'; readonly program: Program }
  /** `internal`: it type-checks, but a constant part of it always fails. */
  | { readonly kind: 'invalid' | 'internal'; readonly detail: string }
);

export interface Scope {
  /** Whether `params` is declared. */
  readonly params: boolean;
  /** Whether `authorizer` is declared. */
  readonly authorizer: boolean;
  /** The types of the policy's variables; undefined when it has no variables. */
  readonly variables?: ReadonlyMap<string, CelType> | undefined;
}

const VARIABLES = 'kubernetes.variables';

/** An environment belongs to one state of `variables`: compiled programs are cached by environment and text. */
export function environmentOf({ params, authorizer, variables }: Scope): Environment {
  return kubernetesEnvironment({
    variables: {
      object: DYN,
      oldObject: DYN,
      request: REQUEST,
      namespaceObject: NAMESPACE,
      ...(params ? { params: DYN } : {}),
      ...(authorizer ? { authorizer: AUTHORIZER, 'authorizer.requestResource': RESOURCE_CHECK } : {}),
      ...(variables === undefined ? {} : { variables: structOf(VARIABLES) }),
    },
    provider: {
      hasStruct: (name) => isRequestStruct(name) || (name === VARIABLES && variables !== undefined),
      field(struct, field) {
        if (struct !== VARIABLES) return requestField(struct, field);
        const type = variables?.get(field);
        return type && { type };
      },
    },
  });
}

const conditionEnvironments = new Map<boolean, Environment>();

/** matchConditions may use everything except variables. */
export function conditionEnvironmentOf(params: boolean): Environment {
  const known = conditionEnvironments.get(params);
  if (known) return known;
  const made = environmentOf({ params, authorizer: true });
  conditionEnvironments.set(params, made);
  return made;
}

type Result = 'bool' | 'string' | 'null';
const RESULT_NAMES: Record<Result, string> = { bool: 'bool', string: 'string', null: 'null_type' };

/** `results`: the allowed result types; empty for any. */
export function compileExpression(text: string, env: Environment, results: readonly Result[]): Expression {
  const compiled = compile(text, env);
  if (compiled.kind === 'invalid') {
    const { stage, message } = compiled;
    return stage === 'check'
      ? { text, kind: 'invalid', detail: `compilation failed: ${message}` }
      : { text, kind: 'internal', detail: `program instantiation failed: ${message}` };
  }
  const { program } = compiled;
  const { type } = program;
  if (results.length === 0 || (!type.nullable && results.some((result) => result === type.kind)))
    return { text, kind: 'program', program };
  const names = results.map((result) => RESULT_NAMES[result]);
  const wanted = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`;
  return { text, kind: 'invalid', detail: `must evaluate to ${wanted} but got ${goTypeName(type)}` };
}

export const compileCondition = (text: string, params: boolean): Expression =>
  compileExpression(text, conditionEnvironmentOf(params), ['bool']);

/** A type as printed by Go: its name with its parameters. */
function goTypeName({ name, params, nullable }: CelType): string {
  const full = params.length === 0 ? name : `${name}(${params.map(goTypeName).join(', ')})`;
  return nullable ? `wrapper(${full})` : full;
}

/** The errors of an expression; `shown` is the value that the errors quote. */
export function expressionErrors(expression: Expression, path: string, shown: string): FieldError[] {
  if (expression.kind === 'program') return [];
  const { kind, detail } = expression;
  return [kind === 'invalid' ? invalid(path, shown, detail) : internalError(path, detail)];
}
