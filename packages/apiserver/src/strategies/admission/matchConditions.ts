// matchConditions of webhooks and policies: named CEL expressions over the request, which must compile.

import { duplicate, type FieldError, required, tooMany } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { qualifiedName } from '../checks.ts';
import { text } from '../values.ts';
import { compileCondition, expressionErrors } from './expressions.ts';

const MAX_CONDITIONS = 64;

/** Names are unique. `params`: whether conditions may use `params`. */
export function validateMatchConditions(
  conditions: JsonObject[],
  path: string,
  { params }: { readonly params: boolean },
): FieldError[] {
  const errors = conditions.length > MAX_CONDITIONS ? [tooMany(path, conditions.length, MAX_CONDITIONS)] : [];
  conditions.forEach((condition, i) => {
    const [name, at] = [text(condition, 'name'), `${path}[${i}]`];
    errors.push(...conditionErrors(text(condition, 'expression').trim(), `${at}.expression`, params));
    errors.push(...(name === '' ? [required(`${at}.name`)] : qualifiedName(name, `${at}.name`)));
    if (name !== '' && conditions.slice(0, i).some((c) => text(c, 'name') === name))
      errors.push(duplicate(`${at}.name`, name));
  });
  return errors;
}

const conditionErrors = (expression: string, path: string, params: boolean): FieldError[] =>
  expression === ''
    ? [required(path)]
    : expressionErrors(compileCondition(expression, params), path, expression);
