// Evaluates the rules of a schema for an object, node by node, with one budget for the whole object.

import { type Bindings, PER_CALL_LIMIT, PER_OBJECT_BUDGET, type Program } from '@lapse/cel/cel';
import { NONE, Optional, type Value } from '@lapse/cel/values';
import { type FieldError, forbidden, invalid, quoteValue, required } from '@lapse/kube/api/fieldErrors';
import { equal, getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type CompiledRule, compileRules, type Rule, readRules } from './compile.ts';
import { declare } from './declare.ts';
import { fieldPathOf } from './fieldPath.ts';
import { withoutNulls } from './nulls.ts';

export interface RuleInput {
  readonly object: JsonObject;
  /** Undefined on create: transition rules do not run. */
  readonly old: JsonObject | undefined;
}

export interface RuleOutcome {
  readonly errors: readonly FieldError[];
  /** Violated rules on unchanged values. */
  readonly warnings: readonly string[];
}

/** A schema node with rules at or below it. */
interface RuleNode {
  readonly schema: JsonObject;
  readonly type: string;
  readonly rules: readonly (CompiledRule & { readonly path: string })[];
  readonly items: RuleNode | undefined;
  readonly values: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
}

/** Undefined when the schema has no rules. */
export function compileSchemaRules(schema: JsonObject): ((input: RuleInput) => RuleOutcome) | undefined {
  const root = nodeOf(schema, true);
  if (!root) return undefined;
  const clean = (object: JsonObject) => withoutNulls(object, schema) as JsonObject;
  return ({ object, old }) => new Evaluation().run(root, { object: clean(object), old: old && clean(old) });
}

/** Evaluates a default twice: as an unchanged value, then as a new one. */
export function checkDefault(schema: JsonObject, value: Json, path: string): FieldError[] {
  const root = nodeOf(schema, schema['x-kubernetes-embedded-resource'] === true);
  if (!root) return [];
  const evaluate = (old: Json | undefined) =>
    new Evaluation().runAt(root, { path, value, old, unchanged: false });
  const errors = evaluate(value);
  return errors.length > 0 ? errors : evaluate(undefined);
}

function nodeOf(schema: unknown, isResource: boolean): RuleNode | undefined {
  if (!isObject(schema)) return undefined;
  const inner = (value: unknown) =>
    nodeOf(value, isObject(value) && value['x-kubernetes-embedded-resource'] === true);
  const rules = readRules(schema);
  const items = inner(schema['items']);
  const values = inner(schema['additionalProperties']);
  const properties = new Map<string, RuleNode>();
  for (const [name, value] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    const node = inner(value);
    if (node) properties.set(name, node);
  }
  if (rules.length === 0 && !items && !values && properties.size === 0) return undefined;
  const decl = rules.length > 0 ? declare(schema, 'selfType', isResource) : undefined;
  const compiled = decl ? compileRules(rules, decl) : [];
  return {
    schema,
    type: String(schema['type'] ?? ''),
    rules: compiled.map((rule) => ({ ...rule, path: fieldPathOf(rule.source.fieldPath, schema) })),
    items,
    values,
    properties,
  };
}

/** A value with its old value, and whether it or a parent is unchanged. */
interface Place {
  readonly path: string;
  readonly value: Json | undefined;
  readonly old: Json | undefined;
  /** The value, or the nearest parent with an old value, is unchanged. */
  readonly unchanged: boolean;
}

const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

class Evaluation {
  readonly #errors: FieldError[] = [];
  readonly #warnings: string[] = [];
  #budget = PER_OBJECT_BUDGET;
  #forgives = true;

  run(root: RuleNode, { object, old }: RuleInput): RuleOutcome {
    const unchanged = old !== undefined && equal(object, old);
    this.#visit(root, { path: '', value: object, old, unchanged });
    return { errors: this.#errors, warnings: this.#warnings };
  }

  /** Reports unchanged values, too. */
  runAt(node: RuleNode, place: Place): FieldError[] {
    this.#forgives = false;
    this.#visit(node, place);
    return this.#errors;
  }

  /** False when the budget is exceeded: evaluation stops. */
  #visit(node: RuleNode, place: Place): boolean {
    const { value } = place;
    if (value === undefined || value === null) return true;
    if (!this.#runRules(node, place)) return false;
    if (Array.isArray(value)) return !node.items || this.#visitItems(node, node.items, value, place);
    return !isObject(value) || this.#visitFields(node, value, place);
  }

  #visitItems(node: RuleNode, items: RuleNode, list: readonly Json[], place: Place): boolean {
    const counterpart = correlate(node.schema, place.old);
    return list.every((value, i) => {
      const old = counterpart(value);
      const unchanged = old === undefined ? place.unchanged : equal(value, old);
      return this.#visit(items, { path: `${place.path}[${i}]`, value, old, unchanged });
    });
  }

  #visitFields(node: RuleNode, object: JsonObject, place: Place): boolean {
    return Object.keys(object)
      .sort()
      .every((name) => {
        const property = node.properties.get(name);
        const child = property ?? node.values;
        if (!child) return true;
        const value = object[name];
        const old = isObject(place.old) ? getOwn(place.old, name) : undefined;
        const unchanged = old === undefined ? place.unchanged : equal(value, old);
        const path = property
          ? place.path === ''
            ? name
            : `${place.path}.${name}`
          : `${place.path}[${name}]`;
        return this.#visit(child, { path, value, old, unchanged });
      });
  }

  #runRules(node: RuleNode, place: Place): boolean {
    return node.rules.every((rule) => this.#runRule(node, rule, place));
  }

  #runRule(node: RuleNode, rule: RuleNode['rules'][number], place: Place): boolean {
    const at = place.path === '' ? '<nil>' : place.path;
    if (rule.problem !== undefined)
      return this.#report(invalid(at, node.type, `rule compile error: ${rule.problem}`));
    const { program, source } = rule;
    if (!program) return true;
    const hasOld = place.old !== undefined && place.old !== null;
    if (rule.usesOldSelf && !hasOld && source.optionalOldSelf !== true) return true;
    if (this.#budget <= 0) return this.#exhausted(at, node, OUT_OF_BUDGET);
    const bindings = bindingsOf(place, source.optionalOldSelf === true);
    const result = program.evaluate(bindings, PER_CALL_LIMIT);
    if (result.cost > this.#budget) return this.#exhausted(at, node, OUT_OF_BUDGET);
    this.#budget -= result.cost;
    const shown = (source.message.trim() || source.rule).trim();
    if (result.kind === 'exhausted') {
      const why = `'${result.message}': no further validation rules will be run due to call cost exceeds limit for rule`;
      return this.#exhausted(at, node, `${why}: ${shown}`);
    }
    if (result.kind === 'error')
      return this.#report(invalid(at, node.type, errorText(result.message, shown)));
    if (result.value === true) return true;
    return this.#refuse(node, rule, place, bindings);
  }

  #refuse(node: RuleNode, rule: RuleNode['rules'][number], place: Place, bindings: Bindings): boolean {
    const { path } = place;
    const at = rule.path === '' ? path : path === '' ? rule.path : `${path}.${rule.path}`;
    const message = this.#messageOf(rule.message, bindings);
    if (message.kind === 'exhausted') {
      this.#budget = -1;
      return this.#exhausted(at === '' ? '<nil>' : at, node, message.why);
    }
    const detail = message.text ?? defaultMessage(rule.source);
    const composite = node.type === 'object' || node.type === 'array';
    const error = errorFor(
      at === '' ? '<nil>' : at,
      composite ? undefined : { value: place.value! },
      detail,
      rule.source.reason,
    );
    if (this.#forgives && !rule.usesOldSelf && place.unchanged)
      this.#warnings.push(`${error.field}: ${error.message}`);
    else this.#errors.push(error);
    return true;
  }

  #messageOf(
    program: Program | undefined,
    bindings: Bindings,
  ): { kind: 'text'; text: string | undefined } | { kind: 'exhausted'; why: string } {
    if (!program) return { kind: 'text', text: undefined };
    const result = program.evaluate(bindings, PER_CALL_LIMIT);
    const shown = quoteValue(program.source.text);
    if (result.kind === 'exhausted') {
      const why =
        'no further validation rules will be run due to call cost exceeds limit for messageExpression';
      return { kind: 'exhausted', why: `${why}: ${shown}` };
    }
    if (result.cost > this.#budget) {
      return {
        kind: 'exhausted',
        why: 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      };
    }
    this.#budget -= result.cost;
    return { kind: 'text', text: result.kind === 'value' ? usable(result.value) : undefined };
  }

  #report(error: FieldError): true {
    this.#errors.push(error);
    return true;
  }

  #exhausted(at: string, node: RuleNode, why: string): false {
    this.#errors.push(invalid(at, node.type, why));
    return false;
  }
}

const MAX_MESSAGE_BYTES = 5 * 1024;

/** A computed message, except when it is empty, too long or has line breaks; then the static one is used. */
function usable(value: Value): string | undefined {
  if (typeof value !== 'string') return undefined;
  const trimmed = value.trim();
  const fits = trimmed !== '' && !trimmed.includes('\n') && Buffer.byteLength(trimmed) <= MAX_MESSAGE_BYTES;
  return fits ? trimmed : undefined;
}

function bindingsOf({ value, old }: Place, optional: boolean): Bindings {
  const before = old as Value | undefined;
  const present = before !== undefined && before !== null;
  const self = value as Value;
  if (optional) return { self, oldSelf: present ? new Optional(before) : NONE };
  return present ? { self, oldSelf: before } : { self };
}

function errorText(message: string, rule: string): string {
  if (message.startsWith('no such overload')) {
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`;
  }
  return `${message} evaluating rule: ${rule}`;
}

const defaultMessage = ({ message, rule }: Rule) =>
  message === '' ? `failed rule: ${rule.trim()}` : message.trim();

/** Lists and objects are not quoted: they may be long, and the path identifies them. */
function errorFor(
  field: string,
  quoted: { value: Json } | undefined,
  detail: string,
  reason: string | undefined,
): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate': {
      const message = quoted ? `Duplicate value: ${quoteValue(quoted.value)}` : 'Duplicate value';
      return { reason: 'FieldValueDuplicate', field, message };
    }
    default: {
      if (quoted) return invalid(field, quoted.value, detail);
      return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` };
    }
  }
}

/** The old element that corresponds to an element: only map lists have one. */
function correlate(schema: JsonObject, old: Json | undefined): (value: Json) => Json | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(keys) || !Array.isArray(old))
    return () => undefined;
  const identity = (value: Json) =>
    isObject(value) ? JSON.stringify(keys.map((k) => String(value[String(k)]))) : '';
  const byKey = new Map(old.map((value) => [identity(value), value]));
  return (value) => byKey.get(identity(value));
}
