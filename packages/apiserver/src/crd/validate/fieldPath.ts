// Paths into a schema in the form of CEL rules and selectable fields: `.spec.name`, `.labels['app.example.com/x']`.

import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';

/** The reason for an unresolved path. */
export class FieldPathError extends Error {}

export interface FoundField {
  /** `spec.name`, `labels[app]`: the path in the form of field errors. */
  readonly path: string;
  readonly steps: readonly string[];
  /** Undefined where additionalProperties allows any value. */
  readonly schema: JsonObject | undefined;
}

export interface FieldPathOptions {
  /** Whether `['name']` is allowed. Default: true. */
  readonly brackets?: boolean;
}

export function findField(path: string, root: JsonObject, options: FieldPathOptions = {}): FoundField {
  const tokens = tokensOf(path);
  const steps: string[] = [];
  let schema: JsonObject | undefined = root;
  let shown = '';
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    let name: string;
    if (token === '.') name = next(tokens);
    else if (token === '[') name = bracketed(tokens, options);
    else throw new FieldPathError(`expected [ or . but got: ${token}`);
    const found: Step = step(schema, name);
    schema = found.schema;
    if (!found.named) shown += `[${name}]`;
    else shown += shown === '' ? name : `.${name}`;
    steps.push(name);
  }
  return { path: shown, steps, schema };
}

/** Splits into single delimiters, quoted strings with their quotes, and the text between them. */
const tokensOf = (path: string): string[] => path.match(/'(?:\\.|[^'\\])*'?|[.[\]]|[^.[\]]+/gs) ?? [];

function next(tokens: string[]): string {
  const token = tokens.shift();
  if (token === undefined) throw new FieldPathError('unexpected end of JSON path');
  return token;
}

function bracketed(tokens: string[], { brackets = true }: FieldPathOptions): string {
  if (!brackets) throw new FieldPathError('array notation is not allowed');
  const token = next(tokens);
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) {
    throw new FieldPathError(`expected single quoted string but got ${token}`);
  }
  const name = token.slice(1, -1).replace(/\\(['\\])/g, '$1');
  const close = next(tokens);
  if (close !== ']') throw new FieldPathError(`expected ] but got ${close}`);
  return name;
}

interface Step {
  readonly schema: JsonObject | undefined;
  /** A property, not a map key. */
  readonly named: boolean;
}

function step(schema: JsonObject | undefined, name: string): Step {
  const properties = schema?.['properties'];
  if (isObject(properties) && Object.keys(properties).length > 0) {
    const property = getOwn(properties, name);
    if (!isObject(property)) throw new FieldPathError('does not refer to a valid field');
    return { schema: property, named: true };
  }
  const additional: Json | undefined = schema?.['additionalProperties'];
  if (additional === undefined) throw new FieldPathError('does not refer to a valid field');
  return { schema: isObject(additional) ? additional : undefined, named: false };
}
