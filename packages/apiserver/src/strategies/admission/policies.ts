// Validation of ValidatingAdmissionPolicy and its binding. ../../admission/policies evaluates them.

import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { check, oneOf } from '../checks.ts';
import { validateConditions } from '../conditions.ts';
import { validateLabelSelector } from '../labelSelector.ts';
import { pathSegmentName, subdomainName } from '../names.ts';
import { child, copyField, has, list, objects, text, texts, value } from '../values.ts';
import { validateMatchConditions } from './matchConditions.ts';
import { PolicyCompiler } from './policyCompiler.ts';
import { annotationErrors, paramKindErrors, validationErrors, variableErrors } from './policyFields.ts';
import { validateOperationsRule } from './rules.ts';

function validatePolicy(policy: KubeObject, old?: KubeObject): FieldError[] {
  const spec = specOf(policy);
  const compiler = new PolicyCompiler(spec);
  const constraints = child(spec, 'matchConstraints');
  const nothing = 'validations or auditAnnotations must contain at least one item';
  const empty = list(spec, 'validations').length + list(spec, 'auditAnnotations').length === 0;
  return [
    ...(has(spec, 'failurePolicy')
      ? oneOf(text(spec, 'failurePolicy'), ['Fail', 'Ignore'], 'spec.failurePolicy')
      : [required('spec.failurePolicy')]),
    ...paramKindErrors(child(spec, 'paramKind')),
    ...(constraints
      ? validateMatch(constraints, 'spec.matchConstraints')
      : [required('spec.matchConstraints')]),
    ...(constraints && list(constraints, 'resourceRules').length === 0
      ? [required('spec.matchConstraints.resourceRules')]
      : []),
    ...(old && keepsConditions(spec, specOf(old))
      ? []
      : validateMatchConditions(objects(spec, 'matchConditions'), 'spec.matchConditions', {
          params: has(spec, 'paramKind'),
        })),
    ...variableErrors(spec, compiler),
    ...(empty ? [required('spec.validations', nothing), required('spec.auditAnnotations', nothing)] : []),
    ...validationErrors(spec, compiler),
    ...annotationErrors(spec, policy.metadata.name ?? '', compiler),
  ];
}

/** Unchanged conditions are not validated again. */
const keepsConditions = (next: JsonObject, old: JsonObject): boolean =>
  equal(value(next, 'paramKind'), value(old, 'paramKind')) &&
  equal(list(next, 'matchConditions'), list(old, 'matchConditions'));

function validateMatch(match: JsonObject, path: string): FieldError[] {
  const rules = (field: string) =>
    objects(match, field).flatMap((rule, i) => {
      const at = `${path}.${field}[${i}]`;
      const names = texts(rule, 'resourceNames');
      return [
        ...names.flatMap((n, k) => [
          ...check(pathSegmentName, n, `${at}.resourceNames[${k}]`),
          ...(names.indexOf(n) < k ? [duplicate(`${at}.resourceNames[${k}]`, n)] : []),
        ]),
        ...validateOperationsRule(rule, at),
      ];
    });
  return [
    ...oneOf(text(match, 'matchPolicy'), ['Equivalent', 'Exact'], `${path}.matchPolicy`),
    ...validateLabelSelector(child(match, 'namespaceSelector'), `${path}.namespaceSelector`),
    ...validateLabelSelector(child(match, 'objectSelector'), `${path}.objectSelector`),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  ];
}

function validateStatus(policy: KubeObject): FieldError[] {
  const status = statusOf(policy);
  const path = 'status.typeChecking.expressionWarnings';
  return [
    ...objects(child(status, 'typeChecking'), 'expressionWarnings').flatMap((warning, i) =>
      ['warning', 'fieldRef'].flatMap((field) =>
        text(warning, field) === '' ? [required(`${path}[${i}].${field}`)] : [],
      ),
    ),
    ...validateConditions(objects(status, 'conditions'), 'status.conditions'),
  ];
}

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function validateBinding(binding: KubeObject): FieldError[] {
  const spec = specOf(binding);
  const policy = text(spec, 'policyName');
  const match = child(spec, 'matchResources');
  return [
    ...(policy === '' ? [required('spec.policyName')] : check(subdomainName, policy, 'spec.policyName')),
    ...paramRefErrors(child(spec, 'paramRef'), 'spec.paramRef'),
    ...(match ? validateMatch(match, 'spec.matchResources') : []),
    ...actionErrors(texts(spec, 'validationActions'), 'spec.validationActions'),
  ];
}

function paramRefErrors(ref: JsonObject | undefined, path: string): FieldError[] {
  if (!ref) return [];
  const [name, selector, action] = [
    text(ref, 'name'),
    child(ref, 'selector'),
    text(ref, 'parameterNotFoundAction'),
  ];
  const exclusive = 'name and selector are mutually exclusive';
  const both = name !== '' && selector !== undefined;
  return [
    ...(name === '' ? [] : check(pathSegmentName, name, `${path}.name`)),
    ...(both ? [forbidden(`${path}.name`, exclusive)] : []),
    ...validateLabelSelector(selector, `${path}.selector`),
    ...(both ? [forbidden(`${path}.selector`, exclusive)] : []),
    ...(name === '' && !selector ? [required(path, 'one of name or selector must be specified')] : []),
    ...(action === ''
      ? [required(`${path}.parameterNotFoundAction`)]
      : ['Deny', 'Allow'].includes(action)
        ? []
        : [notSupported(`${path}.parameterNotFoundAction`, action, ['Deny', 'Allow'])]),
  ];
}

function actionErrors(actions: string[], path: string): FieldError[] {
  if (actions.length === 0) return [required(path, 'at least one validation action is required')];
  const errors = actions.flatMap((action, i) => [
    ...oneOf(action, ACTIONS, `${path}[${i}]`),
    ...(actions.indexOf(action) < i ? [duplicate(`${path}[${i}]`, action)] : []),
  ]);
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(invalid(path, actions, why));
  }
  return errors;
}

const COMMON = {
  nameRule: subdomainName,
  anyFinalizer: true,
  generation: true,
  unconditionalUpdate: false,
} as const;

export const validatingAdmissionPolicyStrategy: Strategy = {
  ...COMMON,
  prepareForCreate: (policy) => {
    policy['status'] = {};
  },
  validate: (policy) => validatePolicy(policy),
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validateUpdate: validatePolicy,
  subresources: {
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validateUpdate: validateStatus,
    },
  },
};

export const validatingAdmissionPolicyBindingStrategy: Strategy = {
  ...COMMON,
  validate: validateBinding,
  validateUpdate: validateBinding,
};
