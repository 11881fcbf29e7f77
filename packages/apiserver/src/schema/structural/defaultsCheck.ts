// Defaults of a schema must conform to it: pruned, valid, and with valid metadata where they are (part of) a
// resource.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import { clone, type Json, type JsonObject } from '@lapse/kube/api/json';
import { DecodeError } from '../decodeError.ts';
import { coerceEmbedded, type MetadataRules, validateEmbedded } from './embedded.ts';
import { sorted } from './listTypes.ts';
import { asResource, META_FIELDS, type SchemaNode } from './node.ts';
import { isPruned } from './prune.ts';
import { Result } from './result.ts';
import { compileValidator } from './validator.ts';

export interface DefaultsOptions {
  readonly prunedDefaults: boolean;
  readonly metadata: MetadataRules;
  /**
   * Evaluates the rules (x-kubernetes-validations) of the schema on its default; called when there is no other error.
   */
  readonly rules?: (schema: JsonObject, value: Json, path: string) => FieldError[];
}

/** Builds the resource around a value deep inside it. */
type BuildResource = (value: Json) => JsonObject;

/** The nearest enclosing resource, and how to build it from a value at this position. */
interface EnclosingResource {
  root: SchemaNode;
  surround: BuildResource;
  insideMeta: boolean;
}

const resource: BuildResource = (value) => ({
  kind: 'Validation',
  apiVersion: 'validation/v1',
  ...(value as JsonObject),
});

export function validateDefaults(schema: SchemaNode, path: string, options: DefaultsOptions): FieldError[] {
  const root = asResource(schema);
  return new DefaultsCheck(options).check(root, path, { root, surround: resource, insideMeta: false });
}

class DefaultsCheck {
  readonly #options: DefaultsOptions;

  constructor(options: DefaultsOptions) {
    this.#options = options;
  }

  check(node: SchemaNode, path: string, above: EnclosingResource): FieldError[] {
    const around = node.embedded ? { root: node, surround: resource, insideMeta: false } : above;
    const errors =
      node.default === undefined ? [] : this.#default(node, node.default, `${path}.default`, around);
    const { root, surround, insideMeta } = around;
    if (node.items !== undefined) {
      const inner = { root, surround: (value: Json) => surround([value]), insideMeta };
      errors.push(...this.check(node.items, `${path}.items`, inner));
    }
    for (const [name, property] of node.properties) {
      const inner = {
        root,
        surround: (value: Json) => surround({ [name]: value }),
        insideMeta: insideMeta || (node.embedded && META_FIELDS.has(name)),
      };
      errors.push(...this.check(property, `${path}.properties[${name}]`, inner));
    }
    return errors;
  }

  #default(node: SchemaNode, value: Json, path: string, around: EnclosingResource): FieldError[] {
    if (around.insideMeta) {
      const problem = this.#metadataProblem(value, around);
      if (problem !== undefined)
        return [invalid(path, sorted(value), `must result in valid metadata: ${problem}`)];
      return this.#value(node, value, path);
    }
    const errors: FieldError[] = [];
    if (this.#options.prunedDefaults && !isPruned(value, node))
      errors.push(invalid(path, sorted(value), 'must not have unknown fields'));
    const { metadata } = this.#options;
    const copy = clone(value);
    try {
      coerceEmbedded(copy, node, metadata, path);
    } catch (error) {
      if (error instanceof DecodeError) return [...errors, refusal(error.message, path)];
      throw error;
    }
    const embedded = validateEmbedded(copy, node, path, metadata);
    return [...errors, ...(embedded.length > 0 ? embedded : this.#value(node, copy, path))];
  }

  #metadataProblem(value: Json, { root, surround }: EnclosingResource): string | undefined {
    const whole = surround(clone(value));
    try {
      coerceEmbedded(whole, root, this.#options.metadata);
    } catch (error) {
      if (error instanceof DecodeError) return error.message;
      throw error;
    }
    const errors = validateEmbedded(whole, root, '', this.#options.metadata);
    const texts = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))];
    if (texts.length === 0) return undefined;
    return texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  }

  #value(node: SchemaNode, value: Json, path: string): FieldError[] {
    const result = new Result();
    compileValidator(node.json, { served: false })(
      value,
      { path: '', old: undefined, node: undefined },
      result,
    );
    const at = (name: string): string => (name === '' ? path : `${path}.${name.replace(/^\./, '')}`);
    if (result.errors.length > 0) return result.errors.map((e) => e.toFieldError(at));
    return this.#options.rules?.(node.json, value, path) ?? [];
  }
}

/** Turns `path: message` back into an error with a field. */
function refusal(text: string, path: string): FieldError {
  const colon = text.indexOf(': ');
  const field = colon < 0 ? path : text.slice(0, colon);
  return { reason: 'FieldValueInvalid', field, message: colon < 0 ? text : text.slice(colon + 2) };
}
