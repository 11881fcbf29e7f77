// metav1.LabelSelector: validation and matching.

import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { validateLabels } from '../metadata/validateMeta.ts';
import { labelValue, qualifiedName } from './checks.ts';
import { list, objects, sortedMap, stringMap, text, texts } from './values.ts';

export function validateLabelSelector(selector: JsonObject | undefined, path: string): FieldError[] {
  if (!selector) return [];
  return [
    ...validateLabels(stringMap(selector, 'matchLabels'), `${path}.matchLabels`),
    ...objects(selector, 'matchExpressions').flatMap((expression, i) =>
      validateRequirement(expression, `${path}.matchExpressions[${i}]`),
    ),
  ];
}

function validateRequirement(expression: JsonObject, path: string): FieldError[] {
  const operator = text(expression, 'operator');
  return [
    ...validateOperator(expression, path),
    ...(OPERATORS.has(operator)
      ? []
      : [invalid(`${path}.operator`, operator, 'not a valid selector operator')]),
    ...qualifiedName(text(expression, 'key'), `${path}.key`),
    ...validateValues(expression, path),
  ];
}

const OPERATORS = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist']);

/** Validates that values are present only where the operator needs them. */
export function validateOperator(expression: JsonObject, path: string): FieldError[] {
  const operator = text(expression, 'operator');
  const isEmpty = texts(expression, 'values').length === 0;
  if ((operator === 'In' || operator === 'NotIn') && isEmpty)
    return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  if ((operator === 'Exists' || operator === 'DoesNotExist') && !isEmpty)
    return [
      forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    ];
  return [];
}

export const validateValues = (expression: JsonObject, path: string): FieldError[] =>
  texts(expression, 'values').flatMap((value, i) => labelValue(value, `${path}.values[${i}]`));

export const isEmptySelector = (selector: JsonObject | undefined): boolean =>
  Object.keys(stringMap(selector, 'matchLabels')).length + list(selector, 'matchExpressions').length === 0;

/** An absent selector matches nothing, an empty one everything; undefined when the selector is invalid. */
export function selects(
  selector: JsonObject | undefined,
  labels: Readonly<Record<string, string>>,
): boolean | undefined {
  if (!selector) return false;
  if (validateLabelSelector(selector, '').length > 0) return undefined;
  const own = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const exact = Object.entries(stringMap(selector, 'matchLabels')).every(([k, v]) => own(k) === v);
  return exact && objects(selector, 'matchExpressions').every((e) => meets(e, own(text(e, 'key'))));
}

function meets(expression: JsonObject, actual: string | undefined): boolean {
  const values = texts(expression, 'values');
  switch (text(expression, 'operator')) {
    case 'In':
      return actual !== undefined && values.includes(actual);
    case 'NotIn':
      return actual === undefined || !values.includes(actual);
    case 'Exists':
      return actual !== undefined;
    default:
      return actual === undefined;
  }
}

/** The selector with sorted keys, as printed by Go. */
export function sortedSelector(selector: JsonObject): JsonObject {
  const labels = stringMap(selector, 'matchLabels');
  const expressions = objects(selector, 'matchExpressions').map((e) => {
    const values = texts(e, 'values');
    return { key: text(e, 'key'), operator: text(e, 'operator'), ...(values.length > 0 ? { values } : {}) };
  });
  return {
    ...(Object.keys(labels).length > 0 ? { matchLabels: sortedMap(labels) } : {}),
    ...(expressions.length > 0 ? { matchExpressions: expressions } : {}),
  };
}
