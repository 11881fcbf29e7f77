// Limits on the estimated cost of rules, for one expression and for a whole schema.

import { type FieldError, forbidden } from '@lapse/kube/api/fieldErrors';

export const RULE_COST_LIMIT = 10_000_000;
export const SCHEMA_COST_LIMIT = 100_000_000;

// Costs are unsigned 64-bit upstream and saturate.
const TOP = 2 ** 64;

export const times = (a: number, b: number): number => Math.min(a * b, TOP);

const ADVICE =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';

export function costMessage(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  let shown = `${factor.toFixed(1)}x`;
  if (factor > 100) shown = 'more than 100x';
  else if (factor < 1.5) shown = `${factor.toFixed(6)}x`;
  return `${what} exceeds budget by factor of ${shown} ${ADVICE}`;
}

const NAMED = 4;

export class CostTotal {
  #total = 0;
  #mostExpensive: { path: string; cost: number }[] = [];

  observe(path: string, cost: number): void {
    this.#total = Math.min(this.#total + cost, TOP);
    // Rules below one percent of the limit are not reported.
    if (cost < SCHEMA_COST_LIMIT / 100) return;
    this.#mostExpensive = [...this.#mostExpensive, { path, cost }]
      .sort((a, b) => b.cost - a.cost)
      .slice(0, NAMED);
  }

  errors(path: string): FieldError[] {
    if (this.#total <= SCHEMA_COST_LIMIT) return [];
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    const part = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    return [
      ...this.#mostExpensive.map((expensive) => forbidden(expensive.path, part)),
      forbidden(path, costMessage(what, this.#total, SCHEMA_COST_LIMIT)),
    ];
  }
}
