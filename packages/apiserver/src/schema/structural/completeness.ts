// Junctors may only refer to fields in the skeleton of the schema. Like upstream, this checks only the junctors at
// the root.

import { type FieldError, required } from '@lapse/kube/api/fieldErrors';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { entriesOf, listOf } from './schemaJson.ts';

/** A position in the skeleton; `schema` is undefined where the skeleton has no field. */
interface Skeleton {
  schema: JsonObject | undefined;
  path: string;
}

export function validateCompleteness(schema: JsonObject, path: string): FieldError[] {
  return junctors(schema, { schema, path }, path);
}

function junctors(schema: JsonObject, skeleton: Skeleton, path: string): FieldError[] {
  const errors = isObject(schema.not) ? nested(schema.not, skeleton, `${path}.not`) : [];
  for (const junctor of ['allOf', 'anyOf', 'oneOf'])
    listOf(schema[junctor]).forEach((branch, i) => {
      errors.push(...nested(branch, skeleton, `${path}.${junctor}[${i}]`));
    });
  return errors;
}

function nested(schema: JsonObject, skeleton: Skeleton, path: string): FieldError[] {
  if (skeleton.schema === undefined) return [required(skeleton.path, `because it is defined in ${path}`)];
  const errors = junctors(schema, skeleton, path);
  if (isObject(schema.items)) {
    const { items } = skeleton.schema;
    const inner = { schema: isObject(items) ? items : undefined, path: `${skeleton.path}.items` };
    errors.push(...nested(schema.items, inner, `${path}.items`));
  }
  const declared = new Map(entriesOf(skeleton.schema.properties));
  for (const [name, property] of entriesOf(schema.properties)) {
    const inner = { schema: declared.get(name), path: `${skeleton.path}.properties[${name}]` };
    errors.push(...nested(property, inner, `${path}.properties[${name}]`));
  }
  return errors;
}
