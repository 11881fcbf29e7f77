// allowedTopologies of a StorageClass: unique terms of unique keys with unique values.

import { duplicate, type FieldError, required } from '#api/fieldErrors';
import type { JsonObject } from '#api/json';
import type { KubeObject } from '#api/object';
import { qualifiedName } from '../checks.ts';
import { objects, text, texts } from '../values.ts';

export function validateTopologies(storageClass: KubeObject, path: string): FieldError[] {
  const seen = new Set<string>();
  return objects(storageClass, 'allowedTopologies').flatMap((term, i) => {
    const at = `${path}[${i}].matchLabelExpressions`;
    const errors = validateTerm(objects(term, 'matchLabelExpressions'), at);
    const signature = JSON.stringify(
      objects(term, 'matchLabelExpressions')
        .map((e) => [text(e, 'key'), ...texts(e, 'values').sort()])
        .sort(),
    );
    if (seen.has(signature)) errors.push(duplicate(at, ''));
    seen.add(signature);
    return errors;
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
