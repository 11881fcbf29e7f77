// Validation of the fields of a ValidatingAdmissionPolicy besides its rules: parameters, variables, validations and
// annotations.

import { duplicate, type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { parseApiVersion } from '@lapse/kube/api/object';
import { oneOf, qualifiedName } from '../checks.ts';
import { label1035Name, subdomainName } from '../names.ts';
import { has, objects, text } from '../values.ts';
import { expressionErrors } from './expressions.ts';
import type { PolicyCompiler } from './policyCompiler.ts';

const MAX_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION = 5 * 1024;
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const RESERVED = new Set(
  `true false null in as break const continue else for function if import let loop package namespace return var void while`.split(
    ' ',
  ),
);

export function paramKindErrors(param: JsonObject | undefined): FieldError[] {
  if (!param) return [];
  const path = 'spec.paramKind';
  const [apiVersion, kind] = [text(param, 'apiVersion'), text(param, 'kind')];
  const odd = label1035Name(kind.toLowerCase());
  const why = `may have mixed case, but should otherwise match: ${odd.join(',')}`;
  return [
    ...apiVersionErrors(apiVersion, `${path}.apiVersion`),
    ...(kind === ''
      ? [required(`${path}.kind`)]
      : odd.length > 0
        ? [invalid(`${path}.kind`, kind, why)]
        : []),
  ];
}

function apiVersionErrors(apiVersion: string, path: string): FieldError[] {
  if (apiVersion === '') return [required(path)];
  const parsed = apiVersion === '/' ? { group: '', version: '' } : parseApiVersion(apiVersion);
  if (!parsed) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const { group, version } = parsed;
  const refuse = (value: string, complaints: string[]) =>
    complaints.length > 0 ? [invalid(path, value, complaints.join(','))] : [];
  return [
    ...(group === '' ? [] : refuse(group, subdomainName(group))),
    ...(version === ''
      ? [invalid(path, apiVersion, 'version must be specified')]
      : refuse(version, label1035Name(version))),
  ];
}

const isBlank = (value: string) => value.trim() === '';

export const variableErrors = (spec: JsonObject, compiler: PolicyCompiler): FieldError[] =>
  objects(spec, 'variables').flatMap((variable, i) => {
    const [path, name] = [`spec.variables[${i}]`, text(variable, 'name')];
    const expression = text(variable, 'expression');
    const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name);
    return [
      ...(isBlank(name)
        ? [required(`${path}.name`, 'name is not specified')]
        : identifier
          ? []
          : [invalid(`${path}.name`, name, 'must be a valid CEL identifier')]),
      ...(isBlank(expression)
        ? [required(`${path}.expression`, 'expression is not specified')]
        : expressionErrors(compiler.variable(name, expression), `${path}.expression`, expression)),
    ];
  });

export const validationErrors = (spec: JsonObject, compiler: PolicyCompiler): FieldError[] =>
  objects(spec, 'validations').flatMap((validation, i) => {
    const path = `spec.validations[${i}]`;
    const message = text(validation, 'message');
    const expression = text(validation, 'expression');
    const computed = text(validation, 'messageExpression');
    const unsaid = (field: string) =>
      text(validation, field) !== '' && isBlank(text(validation, field))
        ? [invalid(`${path}.${field}`, text(validation, field), 'must be non-empty if specified')]
        : [];
    return [
      ...(isBlank(expression)
        ? [required(`${path}.expression`, 'expression is not specified')]
        : expressionErrors(compiler.validation(expression), `${path}.expression`, expression)),
      ...(isBlank(computed)
        ? unsaid('messageExpression')
        : expressionErrors(compiler.message(computed), `${path}.messageExpression`, computed)),
      ...unsaid('message'),
      ...(/[\n\r]/.test(message.trim())
        ? [invalid(`${path}.message`, message, 'must not contain line breaks')]
        : []),
      ...(has(validation, 'reason') ? oneOf(text(validation, 'reason'), REASONS, `${path}.reason`) : []),
    ];
  });

/** Keys become part of annotation names that begin with the name of the policy. */
export function annotationErrors(spec: JsonObject, policy: string, compiler: PolicyCompiler): FieldError[] {
  const annotations = objects(spec, 'auditAnnotations');
  const errors: FieldError[] = [];
  if (annotations.length > MAX_ANNOTATIONS) {
    const why = `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`;
    errors.push(invalid('spec.auditAnnotations', annotations, why));
  }
  const keys = new Set<string>();
  annotations.forEach((annotation, i) => {
    const [path, key] = [`spec.auditAnnotations[${i}]`, text(annotation, 'key')];
    errors.push(
      ...qualifiedName(`${policy}/${key}`, `${path}.key`),
      ...valueErrors(text(annotation, 'valueExpression'), `${path}.valueExpression`, compiler),
    );
    if (keys.has(key)) errors.push(duplicate(`${path}.key`, key));
    keys.add(key);
  });
  return errors;
}

function valueErrors(shown: string, path: string, compiler: PolicyCompiler): FieldError[] {
  const expression = shown.trim();
  if (expression === '') return [required(path, 'valueExpression is not specified')];
  return Buffer.byteLength(expression) > MAX_VALUE_EXPRESSION
    ? [required(path, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`)]
    : expressionErrors(compiler.annotation(expression), path, shown);
}
