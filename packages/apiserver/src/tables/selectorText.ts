// Labels and label selectors as one line of text.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { at, NONE, objects, text, texts } from './cells.ts';

type Value = Json | undefined;

/** `a=1,b=2` by key, or `<none>`. */
export const labelsText = (labels: Value): string =>
  pairs(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',') || NONE;

function pairs(labels: Value): [string, string][] {
  if (!isObject(labels)) return [];
  return Object.keys(labels)
    .sort(byCodeUnit)
    .map((key) => [key, text(labels[key])]);
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A metav1.LabelSelector in the form of selectors in queries; undefined when it is invalid. */
function requirements(selector: JsonObject): string[] | undefined {
  const parts = pairs(at(selector, 'matchLabels')).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  for (const expression of objects(at(selector, 'matchExpressions'))) {
    const part = requirementText(expression);
    if (part === undefined) return undefined;
    parts.push({ key: text(expression['key']), text: part });
  }
  return parts.sort((a, b) => byCodeUnit(a.key, b.key)).map((part) => part.text);
}

function requirementText(expression: JsonObject): string | undefined {
  const key = text(expression['key']);
  const values = texts(expression['values']);
  const set = `(${values.sort(byCodeUnit).join(',')})`;
  switch (expression['operator']) {
    case 'In':
      return values.length > 0 ? `${key} in ${set}` : undefined;
    case 'NotIn':
      return values.length > 0 ? `${key} notin ${set}` : undefined;
    case 'Exists':
      return values.length === 0 ? key : undefined;
    case 'DoesNotExist':
      return values.length === 0 ? `!${key}` : undefined;
    default:
      return undefined;
  }
}

/** For most kinds: `<none>` when it selects everything or nothing, `<error>` when it is invalid. */
export function selectorText(selector: Value): string {
  if (!isObject(selector)) return NONE;
  const parts = requirements(selector);
  return parts ? parts.join(',') || NONE : '<error>';
}

/** For Deployments, which print the selector itself, and for scales. */
export function bareSelectorText(selector: Value): string {
  if (!isObject(selector)) return '';
  return requirements(selector)?.join(',') ?? '<invalid>';
}

/** The Go struct as printed by fmt: admission policy bindings show their parameter selector in this form. */
export function selectorStruct(selector: JsonObject): string {
  const labels = pairs(at(selector, 'matchLabels')).map(([key, value]) => `${key}: ${value},`);
  const expressions = objects(at(selector, 'matchExpressions')).map((e) => {
    const values = `[${texts(e['values']).join(' ')}]`;
    return `LabelSelectorRequirement{Key:${text(e['key'])},Operator:${text(e['operator'])},Values:${values},},`;
  });
  return (
    `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
  );
}
