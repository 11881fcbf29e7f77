// Compiles a schema into a validation function. Junctors (anyOf, oneOf, allOf, not) validate the same value again.
// Old values are compared at properties and items: errors in unchanged values are dropped.

import { quoteGo } from '@lapse/kube/api/fieldErrors';
import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type Check, compileEnum, compileFormat, compileText, compileType, numberAt } from './checks.ts';
import { isKnownFormat } from './formats.ts';
import { nodeOfKey, type SchemaNode } from './node.ts';
import { compileNumber } from './numbers.ts';
import { isUnchanged, type Old, oldItems, oldOfKey } from './ratchet.ts';
import { missing, Result, remark, tooManyElements, violated, violatedFully } from './result.ts';

/** The position of a value: its name in messages, its old value, and the node for comparing both. */
export interface Place {
  readonly path: string;
  readonly old: Old;
  readonly node: SchemaNode | undefined;
}

export type Validate = (value: Json, place: Place, out: Result) => void;

/** `served`: unknown formats are ignored and int-or-string is a type. Defaults are checked without both. */
export interface ValidatorOptions {
  readonly served: boolean;
}

export function compileValidator(schema: JsonObject, options: ValidatorOptions): Validate {
  return new SchemaCompiler(options).compile(schema);
}

/** Validates the root, a property or an item; drops errors in unchanged values. */
export function validateInside(validate: Validate, value: Json, place: Place, out: Result): void {
  const before = out.errors.length;
  validate(value, place, out);
  if (out.errors.length > before && place.old !== undefined && isUnchanged(value, place.old, place.node))
    out.errors.length = before;
}

class SchemaCompiler {
  readonly #served: boolean;

  constructor(options: ValidatorOptions) {
    this.#served = options.served;
  }

  compile(schema: JsonObject): Validate {
    const intOrString = this.#served && schema['x-kubernetes-int-or-string'] === true;
    const type = typeof schema.type === 'string' ? schema.type : '';
    const types = intOrString ? ['integer', 'string'] : type === '' ? [] : [type];
    const format = this.#format(schema, types);
    const ofType = compileType(types, schema.nullable === true, format);
    const ofEnum = compileEnum(schema.enum);
    const junctors = this.#junctors(schema);
    const string = compileString(schema, format);
    const number = compileNumber(schema, types, format);
    const list = this.#list(schema);
    const object = this.#object(schema);
    // The order of the checks is the order of the errors; passed ones are counted like upstream.
    return (value, place, out) => {
      const { path } = place;
      if (value === null) {
        if (ofType === undefined) out.matches++;
        else ofType(value, path, out);
        ofEnum?.(value, path, out);
        return;
      }
      if (ofType !== undefined) applied(ofType, value, path, out);
      junctors(value, place, out);
      out.matches++;
      if (typeof value === 'string') string(value, path, out);
      else if (typeof value === 'number' || typeof value === 'bigint') applied(number, value, path, out);
      else if (Array.isArray(value)) {
        list(value, place, out);
        out.matches++;
      }
      ofEnum?.(value, path, out);
      out.matches++;
      if (isObject(value)) {
        object(value, place, out);
        out.matches++;
      }
      out.matches++;
    };
  }

  #format(schema: JsonObject, types: readonly string[]): string {
    const format = typeof schema.format === 'string' ? schema.format : '';
    if (format === '' || !this.#served) return format;
    return isKnownFormat(types.length === 1 ? types[0]! : '', format) ? format : '';
  }

  #schemas(list: Json | undefined): Validate[] {
    return Array.isArray(list) ? list.filter(isObject).map((schema) => this.compile(schema)) : [];
  }

  #junctors(schema: JsonObject): Validate {
    const anyOf = this.#schemas(schema.anyOf);
    const oneOf = this.#schemas(schema.oneOf);
    const allOf = this.#schemas(schema.allOf);
    const not = isObject(schema.not) ? this.compile(schema.not) : undefined;
    return (value, place, out) => {
      if (anyOf.length > 0) validateAnyOf(anyOf, value, place, out);
      if (oneOf.length > 0) validateOneOf(oneOf, value, place, out);
      if (allOf.length > 0) validateAllOf(allOf, value, place, out);
      if (not !== undefined && resultOf(not, value, place).errors.length === 0)
        out.add(remark(`${quoteGo(place.path)} must not validate the schema (not)`));
      out.matches++;
    };
  }

  #list(schema: JsonObject): (list: Json[], place: Place, out: Result) => void {
    const ofItem = isObject(schema.items) ? this.compile(schema.items) : undefined;
    const min = numberAt(schema, 'minItems');
    const max = numberAt(schema, 'maxItems');
    return (list, { path, old, node }, out) => {
      if (ofItem !== undefined) {
        const oldOf = oldItems(list, old, node);
        list.forEach((item, i) => {
          validateInside(ofItem, item, { path: `${path}[${i}]`, old: oldOf(item), node: node?.items }, out);
        });
      }
      if (min !== undefined && list.length < min)
        out.add(violated(path, list.length, `should have at least ${min} items`));
      if (max !== undefined && list.length > max) out.add(tooManyElements(path, max, list.length, 'items'));
      out.matches++;
    };
  }

  #object(schema: JsonObject): (object: JsonObject, place: Place, out: Result) => void {
    const min = numberAt(schema, 'minProperties');
    const max = numberAt(schema, 'maxProperties');
    const properties = this.#properties(schema.properties);
    const { additionalProperties } = schema;
    const others = isObject(additionalProperties) ? this.compile(additionalProperties) : undefined;
    const closed = additionalProperties === false;
    const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
    return (object, place, out) => {
      const { path } = place;
      if (min !== undefined || max !== undefined) checkSize(object, path, min, max, out);
      if (closed || others !== undefined) validateOthers(object, place, properties, others, out);
      validateProperties(object, place, properties, out);
      for (const name of required) if (!Object.hasOwn(object, name)) out.add(missing(`${path}.${name}`));
    };
  }

  #properties(schemas: Json | undefined): Map<string, Validate> {
    const properties = new Map<string, Validate>();
    if (!isObject(schemas)) return properties;
    for (const [name, schema] of Object.entries(schemas))
      if (isObject(schema)) properties.set(name, this.compile(schema));
    return properties;
  }
}

function compileString(schema: JsonObject, format: string): Check<string> {
  const text = compileText(schema);
  const formatted = compileFormat(format);
  return (value, path, out) => {
    if (text !== undefined) text(value, path, out);
    out.matches++;
    if (formatted !== undefined) applied(formatted, value, path, out);
  };
}

/** A check that applies counts as one additional match. */
function applied<T extends Json>(check: Check<T>, value: T, path: string, out: Result): void {
  check(value, path, out);
  out.matches++;
}

const isTypeField = (key: string): boolean => key === 'kind' || key === 'apiVersion';

function placeOf({ path, old, node }: Place, key: string): Place {
  // Versions at the root are not compared: both objects were converted to this version.
  const inner = path === '' && isTypeField(key) ? undefined : oldOfKey(old, key);
  return { path: path === '' ? key : `${path}.${key}`, old: inner, node: node && nodeOfKey(node, key) };
}

function validateProperties(
  object: JsonObject,
  place: Place,
  properties: ReadonlyMap<string, Validate>,
  out: Result,
): void {
  for (const [name, validate] of properties) {
    const value = getOwn(object, name);
    if (value !== undefined) validateInside(validate, value, placeOf(place, name), out);
  }
}

function validateOthers(
  object: JsonObject,
  place: Place,
  properties: ReadonlyMap<string, Validate>,
  others: Validate | undefined,
  out: Result,
): void {
  for (const key of Object.keys(object)) {
    if (properties.has(key)) continue;
    const path = `${place.path}.${key}`;
    if (others === undefined)
      out.add(violatedFully(place.path, key, `${path} in body is a forbidden property`));
    else validateInside(others, object[key]!, { ...placeOf(place, key), path }, out);
  }
}

function checkSize(
  object: JsonObject,
  path: string,
  min: number | undefined,
  max: number | undefined,
  out: Result,
): void {
  const size = Object.keys(object).length;
  if (min !== undefined && size < min)
    out.add(violated(path, size, `should have at least ${min} properties`));
  if (max !== undefined && size > max) out.add(tooManyElements(path, max, size, 'properties'));
}

function resultOf(validate: Validate, value: Json, place: Place): Result {
  const result = new Result();
  validate(value, place, result);
  return result;
}

/** The failure with the most passed checks; the first one if equal. */
function better(best: Result | undefined, result: Result): Result {
  return best === undefined || result.matches > best.matches ? result : best;
}

function validateAnyOf(branches: Validate[], value: Json, place: Place, out: Result): void {
  let best: Result | undefined;
  for (const branch of branches) {
    const result = resultOf(branch, value, place);
    if (result.errors.length === 0) {
      out.merge(result);
      return;
    }
    best = better(best, result);
  }
  out.add(remark(`${quoteGo(place.path)} must validate at least one schema (anyOf)`));
  out.merge(best!);
}

function validateOneOf(branches: Validate[], value: Json, place: Place, out: Result): void {
  let best: Result | undefined;
  let first: Result | undefined;
  let valid = 0;
  for (const branch of branches) {
    const result = resultOf(branch, value, place);
    if (result.errors.length === 0) {
      valid++;
      first ??= result;
    } else best = better(best, result);
  }
  if (valid === 1) {
    out.merge(first!);
    return;
  }
  const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
  out.add(remark(`${quoteGo(place.path)} must validate one and only one schema (oneOf). ${found}`));
  if (valid === 0) out.merge(best!);
}

function validateAllOf(branches: Validate[], value: Json, place: Place, out: Result): void {
  let valid = 0;
  for (const branch of branches) {
    const result = resultOf(branch, value, place);
    if (result.errors.length === 0) valid++;
    out.merge(result);
  }
  if (valid === branches.length) return;
  const none = valid === 0 ? '. None validated' : '';
  out.add(remark(`${quoteGo(place.path)} must validate all the schemas (allOf)${none}`));
}
