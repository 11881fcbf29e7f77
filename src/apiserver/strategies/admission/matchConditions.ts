// matchConditions of webhooks and policies: named CEL expressions over the request, which must be readable before they
// are stored.

import { duplicate, type FieldError, invalid, required, tooMany } from '#api/fieldErrors';
import type { JsonObject } from '#api/json';
import { compile, DYN, type Environment, kubernetesEnvironment } from '#cel/cel';
import { qualifiedName } from '../checks.ts';
import { text } from '../values.ts';

const MAX_CONDITIONS = 64;

const environmentOf = (...variables: string[]): (() => Environment) => {
  let made: Environment | undefined;
  return () => {
    made ??= kubernetesEnvironment({ variables: Object.fromEntries(variables.map((name) => [name, DYN])) });
    return made;
  };
};

/** What conditions may speak of: those of webhooks, and those of policies. */
export const hookEnvironment = environmentOf('object', 'oldObject', 'request');
export const policyEnvironment = environmentOf('object', 'oldObject', 'request', 'params', 'namespaceObject');

/** Names are unique. */
export function validateMatchConditions(
  conditions: JsonObject[],
  path: string,
  environment: () => Environment,
): FieldError[] {
  const errors = conditions.length > MAX_CONDITIONS ? [tooMany(path, conditions.length, MAX_CONDITIONS)] : [];
  conditions.forEach((condition, i) => {
    const [name, at] = [text(condition, 'name'), `${path}[${i}]`];
    errors.push(...expressionErrors(text(condition, 'expression'), `${at}.expression`, environment));
    errors.push(...(name === '' ? [required(`${at}.name`)] : qualifiedName(name, `${at}.name`)));
    if (name !== '' && conditions.slice(0, i).some((c) => text(c, 'name') === name))
      errors.push(duplicate(`${at}.name`, name));
  });
  return errors;
}

// Policies and webhooks of the real server may ask for rights; what asks for them is not compiled here.
const ASKS_FOR_RIGHTS = /\bauthorizer\b/;

function expressionErrors(expression: string, path: string, environment: () => Environment): FieldError[] {
  if (expression.trim() === '') return [required(path)];
  if (ASKS_FOR_RIGHTS.test(expression)) return [];
  const compiled = compile(expression, environment());
  if (compiled.kind === 'invalid')
    return [invalid(path, expression, `compilation failed: ${compiled.message}`)];
  const { type } = compiled.program;
  return type.kind === 'bool'
    ? []
    : [invalid(path, expression, `must evaluate to bool but got ${type.name}`)];
}
