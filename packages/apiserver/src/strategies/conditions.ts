// Validation of metav1.Condition lists, for the kinds where Kubernetes does it.

import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
} from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { qualifiedName } from './checks.ts';
import { number, text, value } from './values.ts';

const STATUSES = ['True', 'False', 'Unknown'];
const MAX_REASON = 1024;
const MAX_MESSAGE = 32 * 1024;
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';

export function validateConditions(conditions: JsonObject[], path: string): FieldError[] {
  return conditions.flatMap((condition, i) => {
    const type = text(condition, 'type');
    const at = `${path}[${i}]`;
    const repeated = conditions.slice(0, i).some((c) => text(c, 'type') === type);
    return [...(repeated ? [duplicate(`${at}.type`, type)] : []), ...validateCondition(condition, at)];
  });
}

function validateCondition(condition: JsonObject, path: string): FieldError[] {
  const [type, status] = [text(condition, 'type'), text(condition, 'status')];
  const [reason, message] = [text(condition, 'reason'), text(condition, 'message')];
  const observed = number(condition, 'observedGeneration') ?? 0;
  return [
    ...qualifiedName(type, `${path}.type`),
    ...(STATUSES.includes(status) ? [] : [notSupported(`${path}.status`, status, [...STATUSES].sort())]),
    ...(observed < 0
      ? [invalid(`${path}.observedGeneration`, observed, 'must be greater than or equal to zero')]
      : []),
    ...(value(condition, 'lastTransitionTime') ? [] : [required(`${path}.lastTransitionTime`)]),
    ...reasonErrors(reason, `${path}.reason`),
    ...(Buffer.byteLength(message) > MAX_MESSAGE ? [tooLong(`${path}.message`, MAX_MESSAGE)] : []),
  ];
}

function reasonErrors(reason: string, path: string): FieldError[] {
  if (reason === '') return [required(path)];
  const long = reason.length > MAX_REASON ? [tooLong(path, MAX_REASON)] : [];
  const why = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${REASON}')`;
  return new RegExp(`^${REASON}$`).test(reason) ? long : [...long, invalid(path, reason, why)];
}
