// Evaluates the expressions of one policy on one input, under the cost budgets of Kubernetes.

import { type Bindings, PER_OBJECT_BUDGET } from '@lapse/cel/cel';
import { Failure, type Value } from '@lapse/cel/values';
import type { Expression } from '../../strategies/admission/expressions.ts';
import { evaluateConditions, evaluationError, type Match, OVER_BUDGET } from '../webhooks/matching.ts';
import type { Policy, Validation, Variable } from './policy.ts';

/** The variables of the expressions. */
export interface Input {
  /** `object`, `oldObject`, `request` and `params`. */
  readonly common: Bindings;
  /** `namespaceObject`; null to match conditions. */
  readonly namespaceObject: Bindings;
  /** Only for match conditions and validations. */
  readonly authorizer: Bindings;
}

export interface Denial {
  readonly message: string;
  readonly reason: string;
}

export interface Decision {
  /** Subject to the actions of the binding. */
  readonly failures: readonly Denial[];
  /** Always deny the request: audit annotations that could not be evaluated. */
  readonly errors: readonly Denial[];
}

const NOTHING: Decision = { failures: [], errors: [] };
const denial = (message: string): Denial => ({ message, reason: 'Invalid' });

/** The failed validations of a policy. Errors count as failures, except when the policy ignores them. */
export function decide(policy: Policy, input: Input): Decision {
  const failed = (why: string): Decision =>
    policy.ignoresFailure ? NOTHING : { failures: [denial(why)], errors: [] };
  const match = matchConditions(policy, input);
  if (match.kind === 'no') return NOTHING;
  if (match.kind === 'unknown') return failed(match.why);
  try {
    const failures = validate(policy, input);
    return { failures, errors: annotationErrors(policy, input) };
  } catch (cause) {
    if (cause instanceof OutOfBudget) return failed(OVER_BUDGET);
    throw cause;
  }
}

function matchConditions({ conditions }: Policy, { common, authorizer }: Input): Match {
  const byText = new Map(conditions.map((condition) => [condition.text, condition]));
  const bindings = { ...common, ...authorizer, namespaceObject: null };
  return evaluateConditions([...byText.keys()], (text) => {
    const condition = byText.get(text)!;
    if (condition.kind === 'program') return condition.program.evaluate(bindings);
    return { kind: 'error', message: condition.detail, cost: 0 };
  });
}

class OutOfBudget extends Error {}

type Outcome =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'error'; readonly why: string };

/** A sequence of expressions that share a budget and the variables of the policy. */
class Session {
  left: number;
  readonly #bindings: Bindings;
  /** Cost of the variables that the current expression was the first to read. */
  #shared = 0;

  constructor(variables: readonly Variable[], bindings: Bindings, budget: number) {
    this.left = budget;
    const values: Record<string, Value> = Object.create(null);
    this.#bindings = { ...bindings, variables: values };
    for (const variable of variables) this.#declare(values, variable);
  }

  /** A variable is evaluated on first use and then cached. */
  #declare(values: Record<string, Value>, { name, expression }: Variable): void {
    let known: Value | undefined;
    const get = (): Value => {
      known ??= this.#compute(name, expression);
      return known;
    };
    Object.defineProperty(values, name, { get, enumerable: true, configurable: true });
  }

  #compute(name: string, expression: Expression): Value {
    if (expression.kind !== 'program')
      return new Failure(
        `composited variable ${JSON.stringify(name)} fails to compile: ${expression.detail}`,
      );
    const result = expression.program.evaluate(this.#bindings);
    this.#shared += result.cost;
    if (result.kind === 'value') return result.value;
    return new Failure(`composited variable ${JSON.stringify(name)} fails to evaluate: ${result.message}`);
  }

  evaluate(expression: Expression): Outcome {
    if (expression.kind !== 'program')
      return { kind: 'error', why: `compilation error: ${expression.detail}` };
    const result = expression.program.evaluate(this.#bindings);
    this.left -= this.#shared + result.cost;
    this.#shared = 0;
    if (this.left < 0) throw new OutOfBudget();
    return result.kind === 'value'
      ? { kind: 'value', value: result.value }
      : { kind: 'error', why: evaluationError(expression.text, result.message) };
  }
}

function validate({ validations, variables, ignoresFailure }: Policy, input: Input): Denial[] {
  const bindings = { ...input.common, ...input.namespaceObject };
  const session = new Session(variables, { ...bindings, ...input.authorizer }, PER_OBJECT_BUDGET);
  const outcomes = validations.map(({ expression }) => session.evaluate(expression));
  const messages = computeMessages(validations, new Session(variables, bindings, session.left));
  return validations.flatMap((validation, i) => {
    const outcome = outcomes[i]!;
    const error =
      outcome.kind === 'error' ? outcome.why : messages === undefined ? MESSAGE_OVER_BUDGET : undefined;
    if (error !== undefined) return ignoresFailure ? [] : [denial(error)];
    if (outcome.kind === 'value' && outcome.value === true) return [];
    return [{ message: messageOf(validation, messages?.[i]), reason: validation.reason }];
  });
}

const MESSAGE_OVER_BUDGET = `failed messageExpression: ${OVER_BUDGET}`;

/** Evaluates all of them, as Kubernetes does, since they share a budget; undefined when it is exceeded. */
function computeMessages(
  validations: readonly Validation[],
  session: Session,
): (Outcome | undefined)[] | undefined {
  try {
    return validations.map(({ computedMessage }) => computedMessage && session.evaluate(computedMessage));
  } catch (cause) {
    if (cause instanceof OutOfBudget) return undefined;
    throw cause;
  }
}

const MAX_MESSAGE_BYTES = 5 * 1024;

/**
 * The computed message, except when it is empty, too long or has line breaks; then the static one, then the
 * expression.
 */
function messageOf({ message, expression }: Validation, computed: Outcome | undefined): string {
  const value = computed?.kind === 'value' && typeof computed.value === 'string' ? computed.value.trim() : '';
  const isUsable = value !== '' && !value.includes('\n') && Buffer.byteLength(value) <= MAX_MESSAGE_BYTES;
  if (isUsable) return value;
  return message === '' ? `failed expression: ${expression.text.trim()}` : message;
}

function annotationErrors({ annotations, variables, ignoresFailure }: Policy, input: Input): Denial[] {
  if (annotations.length === 0) return [];
  // Kubernetes declares `authorizer` for these expressions but does not bind it.
  const session = new Session(variables, { ...input.common, ...input.namespaceObject }, PER_OBJECT_BUDGET);
  const outcomes = annotations.map((annotation) => session.evaluate(annotation));
  if (ignoresFailure) return [];
  return outcomes.flatMap((outcome) => (outcome.kind === 'error' ? [denial(outcome.why)] : []));
}
