// Validates x-kubernetes-validations without parsing the expressions.

import { type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { objectsAt, textAt } from '../crd.ts';
import { FieldPathError, findField } from './fieldPath.ts';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const LINE_BREAK = /[\n\r]/;

export function validateRuleTexts(schema: JsonObject, path: string): FieldError[] {
  return objectsAt(schema, 'x-kubernetes-validations').flatMap((rule, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    return [
      ...validateRuleAndMessage(rule, at),
      ...validateMessageExpression(rule, at),
      ...validateReason(rule, at),
      ...validateFieldPath(rule, at, schema),
    ];
  });
}

/** The first error of rule and message. */
function validateRuleAndMessage(entry: JsonObject, at: string): FieldError[] {
  const [rule, message] = [textAt(entry, 'rule').trim(), textAt(entry, 'message').trim()];
  if (rule === '') return [required(`${at}.rule`, 'rule is not specified')];
  if (textAt(entry, 'message') !== '' && message === '') {
    return [invalid(`${at}.message`, entry['message'], 'must be non-empty if specified')];
  }
  if (LINE_BREAK.test(message)) {
    return [invalid(`${at}.message`, entry['message'], 'must not contain line breaks')];
  }
  if (LINE_BREAK.test(rule) && message === '') {
    return [required(`${at}.message`, 'message must be specified if rule contains line breaks')];
  }
  return [];
}

function validateMessageExpression(entry: JsonObject, at: string): FieldError[] {
  const expression = textAt(entry, 'messageExpression');
  if (expression === '' || expression.trim() !== '') return [];
  return [required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified')];
}

function validateReason({ reason }: JsonObject, at: string): FieldError[] {
  if (reason === undefined || REASONS.includes(String(reason))) return [];
  return [notSupported(`${at}.reason`, reason, REASONS)];
}

function validateFieldPath(entry: JsonObject, at: string, schema: JsonObject): FieldError[] {
  const fieldPath = textAt(entry, 'fieldPath');
  if (fieldPath === '') return [];
  const errors: FieldError[] = [];
  const complain = (text: string) => errors.push(invalid(`${at}.fieldPath`, fieldPath, text));
  if (fieldPath.trim() === '') complain('must be non-empty if specified');
  if (LINE_BREAK.test(fieldPath)) complain('must not contain line breaks');
  if (!isResolvable(fieldPath, schema)) complain('must be a valid path');
  return errors;
}

function isResolvable(fieldPath: string, schema: JsonObject): boolean {
  try {
    findField(fieldPath, schema);
    return true;
  } catch (cause) {
    if (cause instanceof FieldPathError) return false;
    throw cause;
  }
}
