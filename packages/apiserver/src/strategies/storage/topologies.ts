// Validation of allowedTopologies of a StorageClass: unique terms with unique keys and unique values.

import { duplicate, type FieldError, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { qualifiedName } from '../checks.ts';
import { objects, text, texts } from '../values.ts';

export function validateTopologies(storageClass: KubeObject, path: string): FieldError[] {
  const terms = objects(storageClass, 'allowedTopologies').map((t) => objects(t, 'matchLabelExpressions'));
  // kube-apiserver starts with as many empty terms as there are terms, so an empty term counts as a duplicate.
  const seen = terms.map(() => '[]');
  return terms.flatMap((expressions, i) => {
    const at = `${path}[${i}].matchLabelExpressions`;
    const byKey = new Map(expressions.map((e) => [text(e, 'key'), [...new Set(texts(e, 'values'))].sort()]));
    const signature = JSON.stringify([...byKey].sort(([a], [b]) => (a < b ? -1 : 1)));
    const repeated = seen.filter((other) => other === signature).map(() => duplicate(at, ''));
    seen.push(signature);
    return [...validateTerm(expressions, at), ...repeated];
  });
}

function validateTerm(expressions: JsonObject[], path: string): FieldError[] {
  const keys = new Set<string>();
  return expressions.flatMap((expression, i) => {
    const at = `${path}[${i}]`;
    const key = text(expression, 'key');
    const values = texts(expression, 'values');
    const errors = values.length === 0 ? [required(`${at}.values`)] : [];
    values.forEach((v, n) => {
      if (values.indexOf(v) < n) errors.push(duplicate(`${at}.values[${n}]`, v));
    });
    errors.push(...qualifiedName(key, `${at}.key`));
    if (keys.has(key)) errors.push(duplicate(`${at}.key`, key));
    keys.add(key);
    return errors;
  });
}
