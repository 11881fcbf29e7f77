// Checks the rules of a CRD when it is written: whether they compile against the schema, may use oldSelf, and stay
// within the cost limits for the largest object of a request.

import type { Program } from '@lapse/cel/cel';
import { type FieldError, forbidden, internalError, invalid } from '@lapse/kube/api/fieldErrors';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type CompiledRule, compileRules, type Rule, readRules } from './compile.ts';
import { CostTotal, costMessage, RULE_COST_LIMIT, times } from './cost.ts';
import { type Decl, declare, MAX_REQUEST_BYTES } from './declare.ts';

export interface RuleCheck {
  /** openAPIV3Schema, known to be structural. */
  readonly schema: JsonObject;
  /** The path for errors: `spec.validation.openAPIV3Schema`. */
  readonly path: string;
  /** Whether the schema at this path and below has no errors; rules of other schemas are skipped. */
  readonly sound: (path: string) => boolean;
  /** The stored CRD has the same schema: limits on the cost of one expression do not apply. */
  readonly unchanged: boolean;
  /** The maximum cost of an evaluation. */
  readonly estimate: (program: Program) => number;
}

export function checkSchemaRules(check: RuleCheck): FieldError[] {
  const walk = new Walk(check);
  walk.visit(check.schema, { path: check.path, isResource: true, cardinality: 1, uncorrelatable: undefined });
  return [...walk.errors, ...walk.total.errors(check.path)];
}

/** The position of a schema node, and how often its rules could run on one object. */
interface Node {
  readonly path: string;
  readonly isResource: boolean;
  /** Undefined when a parent list or map has no limit. */
  readonly cardinality: number | undefined;
  /** The innermost parent list whose elements cannot be matched with the old object. */
  readonly uncorrelatable: string | undefined;
}

/** With any other map type, entries cannot be matched with the old object. */
const hasKnownMapType = (schema: JsonObject): boolean =>
  [undefined, 'granular', 'atomic'].includes(schema['x-kubernetes-map-type'] as string | undefined);

class Walk {
  readonly errors: FieldError[] = [];
  readonly total = new CostTotal();
  readonly #check: RuleCheck;

  constructor(check: RuleCheck) {
    this.#check = check;
  }

  /** Rules of children first, in the order of kube-apiserver. */
  visit(schema: JsonObject, node: Node): void {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const fields = hasKnownMapType(schema) ? node : { ...node, uncorrelatable: node.path };
    for (const name of Object.keys(properties).sort()) {
      this.#child(properties[name], fields, {
        path: `${node.path}.properties[${name}]`,
        cardinality: node.cardinality,
      });
    }
    const perEntry = within(node.cardinality, schema['maxProperties']);
    this.#child(schema['additionalProperties'], node, {
      path: `${node.path}.additionalProperties`,
      cardinality: perEntry,
    });
    const perItem = within(node.cardinality, schema['maxItems']);
    const keyed = schema['x-kubernetes-list-type'] === 'map';
    const uncorrelatable = schema['type'] === 'array' && !keyed ? node.path : node.uncorrelatable;
    this.#child(
      schema['items'],
      { ...node, uncorrelatable },
      { path: `${node.path}.items`, cardinality: perItem },
    );
    this.#rules(schema, node);
  }

  #child(schema: Json | undefined, parent: Node, place: Pick<Node, 'path' | 'cardinality'>): void {
    if (!isObject(schema)) return;
    const isResource = schema['x-kubernetes-embedded-resource'] === true;
    this.visit(schema, { ...parent, ...place, isResource });
  }

  #rules(schema: JsonObject, node: Node): void {
    const rules = readRules(schema);
    if (rules.length === 0 || !this.#check.sound(node.path)) return;
    const decl = declare(schema, 'selfType', node.isResource);
    const at = `${node.path}.x-kubernetes-validations`;
    if (!decl) {
      const why = 'internal error: failed to retrieve type information for x-kubernetes-validations';
      this.errors.push(internalError(at, why));
      return;
    }
    for (const [i, rule] of compileRules(rules, decl).entries())
      this.#rule(rule, { at: `${at}[${i}]`, decl, node });
  }

  #rule(rule: CompiledRule, where: { at: string; decl: Decl; node: Node }): void {
    const { at, decl, node } = where;
    const repeats = node.cardinality ?? Math.floor(MAX_REQUEST_BYTES / (decl.minSize + 1));
    const cost = rule.program ? times(this.#check.estimate(rule.program), repeats) : 0;
    this.#observe(`${at}.rule`, 'estimated rule cost', cost);
    if (rule.problem !== undefined) this.errors.push(invalid(`${at}.rule`, asGo(rule.source), rule.problem));
    if (rule.messageProblem !== undefined) {
      this.errors.push(invalid(`${at}.messageExpression`, asGo(rule.source), rule.messageProblem));
    } else if (rule.message) {
      const messageCost = this.#check.estimate(rule.message);
      this.#observe(`${at}.messageExpression`, 'estimated messageExpression cost', messageCost);
    }
    this.#oldSelf(rule, at, node);
  }

  #observe(path: string, what: string, cost: number): void {
    if (cost > RULE_COST_LIMIT && !this.#check.unchanged) {
      this.errors.push(forbidden(path, costMessage(what, cost, RULE_COST_LIMIT)));
    }
    this.total.observe(path, cost);
  }

  #oldSelf(rule: CompiledRule, at: string, node: Node): void {
    if (rule.usesOldSelf) {
      if (node.uncorrelatable === undefined) return;
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${node.uncorrelatable}`;
      this.errors.push(invalid(`${at}.rule`, rule.source.rule, why));
    } else if (rule.source.optionalOldSelf !== undefined) {
      const why = 'may not be set if oldSelf is not used in rule';
      this.errors.push(invalid(`${at}.optionalOldSelf`, rule.source.optionalOldSelf, why));
    }
  }
}

function within(cardinality: number | undefined, max: Json | undefined): number | undefined {
  if (cardinality === undefined || (typeof max !== 'number' && typeof max !== 'bigint')) return undefined;
  return times(cardinality, Math.max(0, Number(max)));
}

/** A rule as printed from the internal struct of kube-apiserver. */
const asGo = (rule: Rule): JsonObject => ({
  Rule: rule.rule,
  Message: rule.message,
  MessageExpression: rule.messageExpression,
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath,
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});
