// fieldPath of a rule (`.spec.name`, `.labels['app']`) in the form of field errors (`spec.name`, `labels[app]`).

import { getOwn, isObject, type JsonObject } from '@lapse/kube/api/json';

const STEP = /\.([^.[\]]+)|\['((?:\\.|[^'\\])*)'\]/gy;

/** Empty without a path, or with an unresolved one (which is rejected when the CRD is written). */
export function fieldPathOf(path: string, root: JsonObject): string {
  let schema: unknown = root;
  let shown = '';
  for (const [, plain, quoted] of path.matchAll(STEP)) {
    const name = plain ?? quoted!.replace(/\\(.)/g, '$1');
    const properties: unknown = isObject(schema) ? schema['properties'] : undefined;
    const property = isObject(properties) ? getOwn(properties, name) : undefined;
    const values: unknown = isObject(schema) ? schema['additionalProperties'] : undefined;
    if (property === undefined && values === undefined) return '';
    if (property !== undefined) shown += shown === '' ? name : `.${name}`;
    else shown += `[${name}]`;
    schema = property ?? values;
  }
  return shown;
}
