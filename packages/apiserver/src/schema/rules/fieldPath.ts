// fieldPath of a rule (`.spec.name`, `.labels['app']`) in the form of field errors (`spec.name`, `labels[app]`).

import { getOwn, isObject, type JsonObject } from '@lapse/kube/api/json';

const STEP = /\.([^.[\]]+)|\['((?:\\.|[^'\\])*)'\]/gy;

/** Empty without a path, or with an unresolved one (which is rejected when the CRD is written). */
export function fieldPathOf(path: string, root: JsonObject): string {
  let schema: unknown = root;
  let shown = '';
  for (const [, plain, quoted] of path.matchAll(STEP)) {
    const name = plain ?? quoted!.replace(/\\(.)/g, '$1');
    const property = getObject(getObject(schema, 'properties'), name);
    schema = property ?? getObject(schema, 'additionalProperties');
    if (schema === undefined) return '';
    if (property === undefined) shown += `[${name}]`;
    else shown += shown === '' ? name : `.${name}`;
  }
  return shown;
}

const getObject = (value: unknown, key: string): unknown =>
  isObject(value) ? getOwn(value, key) : undefined;
