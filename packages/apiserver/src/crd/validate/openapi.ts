// The OpenAPI subset of CRDs: unsupported keywords, places where defaults are not allowed, and constraints between
// the x-kubernetes keywords. Structural validation is separate.

import { type FieldError, forbidden, invalid, notSupported } from '@lapse/kube/api/fieldErrors';
import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { textAt } from '../crd.ts';
import { type ListStrictness, validateListType, validateMapType } from './listTypes.ts';
import { validateRuleTexts } from './ruleTexts.ts';

/** Rules that an update may violate when the old CRD already violated them. */
export interface SchemaStrictness extends ListStrictness {
  readonly validPropertyType: boolean;
}

/** The position in the schema. */
interface Place {
  readonly root: boolean;
  /** Inside apiVersion, kind or metadata of the object or of an embedded one. */
  readonly insideMeta: boolean;
  /** Why defaults are not allowed here; undefined where they are allowed. */
  readonly noDefaults: string | undefined;
}

const META_FIELDS = ['metadata', 'kind', 'apiVersion'];

export function validateOpenApi(
  schema: JsonObject,
  path: string,
  strictness: SchemaStrictness,
): FieldError[] {
  return new OpenApiCheck(strictness).check(schema, path, {
    root: true,
    insideMeta: false,
    noDefaults: undefined,
  });
}

class OpenApiCheck {
  readonly #strictness: SchemaStrictness;

  constructor(strictness: SchemaStrictness) {
    this.#strictness = strictness;
  }

  check(schema: JsonObject, path: string, place: Place): FieldError[] {
    const below: Place = { ...place, root: false };
    return [
      ...this.#keywords(schema, path, place),
      ...this.#additionalProperties(schema, path, below),
      ...this.#properties(schema, path, place),
      ...this.#junctors(schema, path, below),
      ...this.#items(schema, path, below),
      ...this.#schemaMap(schema['dependencies'], `${path}.dependencies`, below),
      ...preserveFlag(schema, path),
      ...validateMapType(schema, path),
      ...validateListType(schema, path, this.#strictness),
      ...validateRuleTexts(schema, path),
    ];
  }

  #keywords(schema: JsonObject, path: string, place: Place): FieldError[] {
    const errors: FieldError[] = [];
    const type = textAt(schema, 'type');
    if (this.#strictness.validPropertyType && type && !TYPES.includes(type)) {
      errors.push(notSupported(`${path}.type`, type, TYPES));
    }
    if (schema['default'] !== undefined && place.noDefaults !== undefined) {
      errors.push(forbidden(`${path}.default`, `must not be set ${place.noDefaults}`));
    }
    for (const [keyword, isSet] of UNSUPPORTED) {
      if (isSet(schema[keyword])) errors.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`));
    }
    if (type === 'null') {
      errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
    }
    if (Array.isArray(schema['items']) && schema['items'].length > 0) {
      errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
    }
    if (place.insideMeta && schema['x-kubernetes-embedded-resource'] === true) {
      errors.push(
        forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'),
      );
    }
    if (schema['uniqueItems'] === true) {
      const text = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
      errors.push(forbidden(`${path}.uniqueItems`, text));
    }
    return errors;
  }

  #additionalProperties(schema: JsonObject, path: string, below: Place): FieldError[] {
    const additional = schema['additionalProperties'];
    if (additional === undefined) return [];
    const errors: FieldError[] = [];
    const at = `${path}.additionalProperties`;
    if (hasKeys(schema['properties']) && additional !== true) {
      errors.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'));
    }
    if (!isObject(additional)) return errors;
    const noDefaults = below.insideMeta
      ? 'inside additionalProperties applying to object metadata'
      : below.noDefaults;
    errors.push(...this.check(additional, at, { ...below, noDefaults }));
    return errors;
  }

  #properties(schema: JsonObject, path: string, place: Place): FieldError[] {
    const properties = schema['properties'];
    if (!isObject(properties)) return [];
    const resource = place.root || schema['x-kubernetes-embedded-resource'] === true;
    return Object.keys(properties).flatMap((name) => {
      const property = getOwn(properties, name);
      if (!isObject(property)) return [];
      const meta = resource && META_FIELDS.includes(name);
      return this.check(property, `${path}.properties[${name}]`, {
        root: false,
        insideMeta: place.insideMeta || meta,
        noDefaults: meta && place.root ? `in top-level ${name}` : place.noDefaults,
      });
    });
  }

  #junctors(schema: JsonObject, path: string, below: Place): FieldError[] {
    const { not } = schema;
    return [
      ...(isObject(not) ? this.check(not, `${path}.not`, below) : []),
      ...this.#schemaList(schema['allOf'], `${path}.allOf`, below),
      ...this.#schemaList(schema['oneOf'], `${path}.oneOf`, below),
      ...this.#schemaList(schema['anyOf'], `${path}.anyOf`, below),
      ...this.#schemaMap(schema['definitions'], `${path}.definitions`, below),
    ];
  }

  #items(schema: JsonObject, path: string, below: Place): FieldError[] {
    const { items } = schema;
    return isObject(items)
      ? this.check(items, `${path}.items`, below)
      : this.#schemaList(items, `${path}.items`, below);
  }

  #schemaList(list: Json | undefined, path: string, place: Place): FieldError[] {
    if (!Array.isArray(list)) return [];
    return list.flatMap((one, i) => (isObject(one) ? this.check(one, `${path}[${i}]`, place) : []));
  }

  #schemaMap(map: Json | undefined, path: string, place: Place): FieldError[] {
    if (!isObject(map)) return [];
    return Object.keys(map).flatMap((key) => {
      const one = getOwn(map, key);
      return isObject(one) ? this.check(one, `${path}[${key}]`, place) : [];
    });
  }
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const hasKeys = (value: Json | undefined): boolean => isObject(value) && Object.keys(value).length > 0;
const isPresent = (value: Json | undefined): boolean => value !== undefined;

/** Unsupported keywords, in the order of the errors. */
const UNSUPPORTED: readonly (readonly [string, (value: Json | undefined) => boolean])[] = [
  ['id', (v) => v !== undefined && v !== ''],
  ['additionalItems', isPresent],
  ['patternProperties', hasKeys],
  ['definitions', hasKeys],
  ['dependencies', isPresent],
  ['$ref', isPresent],
];

function preserveFlag(schema: JsonObject, path: string): FieldError[] {
  const flag = schema['x-kubernetes-preserve-unknown-fields'];
  if (flag !== false) return [];
  return [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')];
}
