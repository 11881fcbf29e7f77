// Validation of scheduling fields: tolerations, affinity, topology spread, gates.

import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { checkLabelValue } from '@lapse/kube/api/names';
import { check, NOT_POSITIVE, oneOf, qualifiedName } from '../checks.ts';
import { validateLabelSelector } from '../labelSelector.ts';
import { labelName } from '../names.ts';
import { validateNodeSelector, validateNodeTerm } from '../nodeSelector.ts';
import { child, has, number, objects, part, stringMap, text, texts } from '../values.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export const validateTolerations = (tolerations: JsonObject[], path: string): FieldError[] =>
  tolerations.flatMap((toleration, i) => validateToleration(toleration, `${path}[${i}]`));

function validateToleration(toleration: JsonObject, path: string): FieldError[] {
  const [key, operator, effect] = [
    text(toleration, 'key'),
    text(toleration, 'operator'),
    text(toleration, 'effect'),
  ];
  const errors = key === '' ? [] : qualifiedName(key, `${path}.key`);
  if (key === '' && operator !== 'Exists') {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalid(`${path}.operator`, operator, why));
  }
  if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute')
    errors.push(
      invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
    );
  errors.push(...validateOperator(operator, text(toleration, 'value'), `${path}.operator`));
  return effect === '' ? errors : [...errors, ...oneOf(effect, EFFECTS, `${path}.effect`)];
}

function validateOperator(operator: string, value: string, path: string): FieldError[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const odd = checkLabelValue(value);
      return odd.length > 0 ? [invalid(path, value, odd.join(';'))] : [];
    }
    case 'Exists':
      return value === '' ? [] : [invalid(path, value, "value must be empty when `operator` is 'Exists'")];
    case 'Lt':
    case 'Gt':
      return [notSupported(path, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [notSupported(path, operator, ['Equal', 'Exists'])];
  }
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(affinity: JsonObject | undefined, path: string): FieldError[] {
  if (!affinity) return [];
  const node = child(affinity, 'nodeAffinity');
  return [
    ...(node ? validateNodeAffinity(node, `${path}.nodeAffinity`) : []),
    ...validatePodAffinity(child(affinity, 'podAffinity'), `${path}.podAffinity`),
    ...validatePodAffinity(child(affinity, 'podAntiAffinity'), `${path}.podAntiAffinity`),
  ];
}

const weightErrors = (term: JsonObject, path: string): FieldError[] => {
  const weight = number(term, 'weight') ?? 0;
  return weight <= 0 || weight > 100 ? [invalid(`${path}.weight`, weight, 'must be in the range 1-100')] : [];
};

function validateNodeAffinity(affinity: JsonObject, path: string): FieldError[] {
  const selector = child(affinity, REQUIRED);
  return [
    ...(selector ? validateNodeSelector(selector, `${path}.${REQUIRED}`) : []),
    ...objects(affinity, PREFERRED).flatMap((term, i) => {
      const at = `${path}.${PREFERRED}[${i}]`;
      return [
        ...weightErrors(term, at),
        ...validateNodeTerm(part(term, 'preference'), `${at}.preference`, false),
      ];
    }),
  ];
}

function validatePodAffinity(affinity: JsonObject | undefined, path: string): FieldError[] {
  return [
    ...objects(affinity, REQUIRED).flatMap((t, i) => validateTerm(t, `${path}.${REQUIRED}[${i}]`)),
    ...objects(affinity, PREFERRED).flatMap((t, i) => {
      const at = `${path}.${PREFERRED}[${i}]`;
      return [...weightErrors(t, at), ...validateTerm(part(t, 'podAffinityTerm'), `${at}.podAffinityTerm`)];
    }),
  ];
}

function validateTerm(term: JsonObject, path: string): FieldError[] {
  const topology = text(term, 'topologyKey');
  return [
    ...validateLabelSelector(child(term, 'labelSelector'), `${path}.labelSelector`),
    ...validateLabelSelector(child(term, 'namespaceSelector'), `${path}.namespaceSelector`),
    ...texts(term, 'namespaces').flatMap((n) => check(labelName, n, `${path}.namespace`)),
    ...validateLabelKeys(term, path),
    ...(topology === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...qualifiedName(topology, `${path}.topologyKey`),
  ];
}

/** matchLabelKeys and mismatchLabelKeys need a selector, and may not repeat keys of each other or of the selector. */
function validateLabelKeys(term: JsonObject, path: string): FieldError[] {
  const selector = child(term, 'labelSelector');
  const [match, mismatch] = [texts(term, 'matchLabelKeys'), texts(term, 'mismatchLabelKeys')];
  const keyErrors = (keys: string[], at: string): FieldError[] => {
    if (keys.length === 0) return [];
    if (!selector) return [forbidden(at, 'must not be specified when labelSelector is not set')];
    return keys.flatMap((key, i) => qualifiedName(key, `${at}[${i}]`));
  };
  const errors = [
    ...keyErrors(match, `${path}.matchLabelKeys`),
    ...keyErrors(mismatch, `${path}.mismatchLabelKeys`),
  ];
  const seen = new Set(Object.keys(stringMap(selector, 'matchLabels')));
  for (const expression of objects(selector, 'matchExpressions')) {
    const key = text(expression, 'key');
    const at = match.indexOf(key);
    if (at >= 0 && seen.has(key))
      errors.push(invalid(`${path}[${at}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    seen.add(key);
  }
  match.forEach((key, i) => {
    if (mismatch.includes(key)) {
      const why = 'exists in both matchLabelKeys and mismatchLabelKeys';
      errors.push(invalid(`${path}.matchLabelKeys[${i}]`, key, why));
    }
  });
  return errors;
}

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateSpread(constraints: JsonObject[], path: string): FieldError[] {
  return constraints.flatMap((constraint, i) => {
    const at = `${path}[${i}]`;
    const [topology, action] = [text(constraint, 'topologyKey'), text(constraint, 'whenUnsatisfiable')];
    const skew = number(constraint, 'maxSkew') ?? 0;
    const repeated = constraints
      .slice(i + 1)
      .some((c) => text(c, 'topologyKey') === topology && text(c, 'whenUnsatisfiable') === action);
    const policies = ['nodeAffinityPolicy', 'nodeTaintsPolicy'].filter((p) => has(constraint, p));
    return [
      ...(skew <= 0 ? [invalid(`${at}.maxSkew`, skew, NOT_POSITIVE)] : []),
      ...(topology === '' ? [required(`${at}.topologyKey`, 'can not be empty')] : []),
      ...oneOf(action, ACTIONS, `${at}.whenUnsatisfiable`),
      ...(repeated ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topology}, ${action}}`)] : []),
      ...validateMinDomains(number(constraint, 'minDomains'), action, `${at}.minDomains`),
      ...policies.flatMap((p) => oneOf(text(constraint, p), ['Honor', 'Ignore'], `${at}.${p}`)),
      ...validateLabelKeys(constraint, at),
      ...validateLabelSelector(child(constraint, 'labelSelector'), `${at}.labelSelector`),
    ];
  });
}

function validateMinDomains(domains: number | undefined, action: string, path: string): FieldError[] {
  if (domains === undefined) return [];
  const errors = domains <= 0 ? [invalid(path, domains, NOT_POSITIVE)] : [];
  if (action !== 'DoNotSchedule') {
    const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
    errors.push(invalid(path, domains, why));
  }
  return errors;
}

export function validateGates(gates: JsonObject[], path: string): FieldError[] {
  const seen = new Set<string>();
  return gates.flatMap((gate, i) => {
    const name = text(gate, 'name');
    const errors = qualifiedName(name, `${path}[${i}]`);
    if (seen.has(name)) errors.push(duplicate(`${path}[${i}]`, name));
    seen.add(name);
    return errors;
  });
}
