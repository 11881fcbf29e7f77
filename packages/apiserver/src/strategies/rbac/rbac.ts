// Strategies of Roles and bindings: non-empty rules, subjects of known kinds, and an immutable roleRef.
// access/escalation.ts checks whether the user may grant the rights.

import { type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { check, metaOf, metaUpdate } from '../checks.ts';
import { validateLabelSelector } from '../labelSelector.ts';
import { pathSegmentName, subdomainName } from '../names.ts';
import { child, defaultTo, list, objects, part, text, texts } from '../values.ts';

const GROUP = 'rbac.authorization.k8s.io';

const validateRules = (role: KubeObject, namespaced: boolean): FieldError[] =>
  objects(role, 'rules').flatMap((rule, i) => validateRule(rule, namespaced, `rules[${i}]`));

function validateRule(rule: JsonObject, namespaced: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const empty = (field: string) => list(rule, field).length === 0;
  if (empty('verbs')) errors.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
  const urls = texts(rule, 'nonResourceURLs');
  if (urls.length > 0) {
    const at = `${path}.nonResourceURLs`;
    if (namespaced) errors.push(invalid(at, urls, 'namespaced rules cannot apply to non-resource URLs'));
    if (!empty('apiGroups') || !empty('resources') || !empty('resourceNames'))
      errors.push(invalid(at, urls, 'rules cannot apply to both regular resources and non-resource URLs'));
    return errors;
  }
  if (empty('apiGroups'))
    errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  if (empty('resources'))
    errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  return errors;
}

function validateAggregation(role: KubeObject): FieldError[] {
  const rule = child(role, 'aggregationRule');
  if (!rule) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = objects(rule, 'clusterRoleSelectors');
  if (selectors.length === 0)
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, i) => {
    const odd = validateLabelSelector(selector, `${path}[${i}]`);
    return odd.length > 0 ? [...odd, invalid(`${path}[${i}]`, null, 'invalid label selector.')] : [];
  });
}

/** `validateChange` compares an update with the old object. */
const strategyOf = (
  namespaced: boolean,
  validate: (object: KubeObject) => FieldError[],
  validateChange: (next: KubeObject, old: KubeObject) => FieldError[] = () => [],
): Strategy => ({
  nameRule: pathSegmentName,
  createOnUpdate: true,
  validate,
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, namespaced, pathSegmentName),
    ...validate(next),
    ...metaUpdate(next, old),
    ...validateChange(next, old),
  ],
});

const roleStrategyOf = (namespaced: boolean): Strategy =>
  strategyOf(namespaced, (role) => [
    ...validateRules(role, namespaced),
    ...(namespaced ? [] : validateAggregation(role)),
  ]);

function validateRef(binding: KubeObject, kinds: readonly string[]): FieldError[] {
  const ref = part(binding, 'roleRef');
  const [group, kind, name] = [text(ref, 'apiGroup'), text(ref, 'kind'), text(ref, 'name')];
  return [
    ...(group === GROUP ? [] : [notSupported('roleRef.apiGroup', group, [GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [required('roleRef.name')] : check(pathSegmentName, name, 'roleRef.name')),
  ];
}

function validateSubject(subject: JsonObject, namespaced: boolean, path: string): FieldError[] {
  const [kind, name, group] = [text(subject, 'kind'), text(subject, 'name'), text(subject, 'apiGroup')];
  const errors = name === '' ? [required(`${path}.name`)] : [];
  if (kind === 'User' || kind === 'Group')
    return group === GROUP ? errors : [...errors, notSupported(`${path}.apiGroup`, group, [GROUP])];
  if (kind !== 'ServiceAccount')
    return [...errors, notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
  if (name !== '') errors.push(...check(subdomainName, name, `${path}.name`));
  if (group !== '') errors.push(notSupported(`${path}.apiGroup`, group, ['']));
  if (!namespaced && text(subject, 'namespace') === '') errors.push(required(`${path}.namespace`));
  return errors;
}

/** Users and groups default to the RBAC group, service accounts to the core group. */
function defaultSubjects(binding: KubeObject): void {
  for (const subject of objects(binding, 'subjects'))
    if (['User', 'Group'].includes(text(subject, 'kind'))) defaultTo(subject, 'apiGroup', GROUP);
}

function bindingStrategyOf(namespaced: boolean): Strategy {
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const validate = (binding: KubeObject) => [
    ...validateRef(binding, kinds),
    ...objects(binding, 'subjects').flatMap((s, i) => validateSubject(s, namespaced, `subjects[${i}]`)),
  ];
  return { ...strategyOf(namespaced, validate, validateRefChange), applyDefaults: defaultSubjects };
}

function validateRefChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, then] = [part(next, 'roleRef'), part(old, 'roleRef')];
  const shown = { APIGroup: text(now, 'apiGroup'), Kind: text(now, 'kind'), Name: text(now, 'name') };
  return equal(now, then) ? [] : [invalid('roleRef', shown, 'cannot change roleRef')];
}

export const roleStrategy = roleStrategyOf(true);
export const clusterRoleStrategy = roleStrategyOf(false);
export const roleBindingStrategy = bindingStrategyOf(true);
export const clusterRoleBindingStrategy = bindingStrategyOf(false);
