// Compiles the rules of one schema node. The type of the node is the type of `self`.

import { compile, type Environment, type Program } from '@lapse/cel/cel';
import { kubernetesEnvironment } from '@lapse/cel/libraries';
import { type CelType, optionalOf } from '@lapse/cel/types';
import type { JsonObject } from '@lapse/kube/api/json';
import { isObject } from '@lapse/kube/api/json';
import type { Decl } from './declare.ts';
import { providerOf } from './provider.ts';

export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string | undefined;
  readonly fieldPath: string;
  readonly optionalOldSelf: boolean | undefined;
}

export type CompiledRule = {
  readonly source: Rule;
  readonly usesOldSelf: boolean;
  readonly program: Program | undefined;
  /** Why the rule does not compile. */
  readonly problem?: string;
  readonly message: Program | undefined;
  readonly messageProblem?: string;
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function readRules(schema: JsonObject): Rule[] {
  const list = schema['x-kubernetes-validations'];
  return (Array.isArray(list) ? list : []).filter(isObject).map((r) => ({
    rule: text(r['rule']),
    message: text(r['message']),
    messageExpression: text(r['messageExpression']),
    reason: typeof r['reason'] === 'string' ? r['reason'] : undefined,
    fieldPath: text(r['fieldPath']),
    optionalOldSelf: typeof r['optionalOldSelf'] === 'boolean' ? r['optionalOldSelf'] : undefined,
  }));
}

/** Compiles all rules of a node, independently of each other. */
export function compileRules(rules: readonly Rule[], decl: Decl): CompiledRule[] {
  const environments = new Environments(decl);
  return rules.map((source) => compileRule(source, environments));
}

/** One environment per use of oldSelf, created on first use. */
class Environments {
  readonly #decl: Decl;
  readonly #made = new Map<boolean, Environment>();

  constructor(decl: Decl) {
    this.#decl = decl;
  }

  of(rule: Rule): Environment {
    const optional = rule.optionalOldSelf === true;
    const known = this.#made.get(optional);
    if (known) return known;
    const { type } = this.#decl;
    const oldSelf: CelType = optional ? optionalOf(type) : type;
    const made = kubernetesEnvironment({
      variables: { self: type, oldSelf },
      provider: providerOf(this.#decl),
    });
    this.#made.set(optional, made);
    return made;
  }
}

function compileRule(source: Rule, environments: Environments): CompiledRule {
  const none = { source, usesOldSelf: false, program: undefined, message: undefined };
  if (source.rule.trim() === '') return none;
  const env = environments.of(source);
  const compiled = compile(source.rule, env);
  if (compiled.kind === 'invalid') return { ...none, problem: `compilation failed: ${compiled.message}` };
  const { program } = compiled;
  if (program.type.kind !== 'bool') return { ...none, problem: 'cel expression must evaluate to a bool' };
  const usesOldSelf = program.variables.includes('oldSelf');
  return { source, usesOldSelf, program, ...compileMessage(source, env) };
}

function compileMessage(source: Rule, env: Environment): Pick<CompiledRule, 'message' | 'messageProblem'> {
  if (source.messageExpression.trim() === '') return { message: undefined };
  const compiled = compile(source.messageExpression, env);
  if (compiled.kind === 'invalid') {
    return {
      message: undefined,
      messageProblem: `messageExpression compilation failed: ${compiled.message}`,
    };
  }
  if (compiled.program.type.kind !== 'string') {
    return { message: undefined, messageProblem: 'messageExpression must evaluate to a string' };
  }
  return { message: compiled.program };
}
