// Validation of node selectors, in the node affinity of Pods and volumes.

import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { checkLabelValue, checkQualifiedName } from '@lapse/kube/api/names';
import { check } from './checks.ts';
import { subdomainName } from './names.ts';
import { objects, text, texts } from './values.ts';

export function validateNodeSelector(selector: JsonObject, path: string): FieldError[] {
  const terms = objects(selector, 'nodeSelectorTerms');
  const at = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return terms.flatMap((term, i) => validateNodeTerm(term, `${at}[${i}]`, true));
}

/** `strict`: also validates that values are valid label values. */
export const validateNodeTerm = (term: JsonObject, path: string, strict: boolean): FieldError[] => [
  ...objects(term, 'matchExpressions').flatMap((e, i) =>
    validateExpression(e, `${path}.matchExpressions[${i}]`, strict),
  ),
  ...objects(term, 'matchFields').flatMap((e, i) => validateField(e, `${path}.matchFields[${i}]`)),
];

function validateExpression(expression: JsonObject, path: string, strict: boolean): FieldError[] {
  const values = texts(expression, 'values');
  const invalidValues = strict
    ? values.flatMap((v, i) => check(checkLabelValue, v, `${path}.values[${i}]`))
    : [];
  return [
    ...operatorErrors(text(expression, 'operator'), values.length, path),
    ...check(checkQualifiedName, text(expression, 'key'), `${path}.key`),
    ...invalidValues,
  ];
}

function operatorErrors(operator: string, count: number, path: string): FieldError[] {
  const at = `${path}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count === 0 ? [required(at, "must be specified when `operator` is 'In' or 'NotIn'")] : [];
    case 'Exists':
    case 'DoesNotExist':
      return count > 0
        ? [forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : [];
    case 'Gt':
    case 'Lt':
      return count === 1
        ? []
        : [required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

function validateField(expression: JsonObject, path: string): FieldError[] {
  const [operator, key] = [text(expression, 'operator'), text(expression, 'key')];
  const values = texts(expression, 'values');
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, why));
  }
  if (key !== 'metadata.name') errors.push(invalid(`${path}.key`, key, 'not a valid field selector key'));
  else errors.push(...values.flatMap((v, i) => check(subdomainName, v, `${path}.values[${i}]`)));
  return errors;
}
