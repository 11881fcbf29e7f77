// The scaling behavior in its annotation: kube-apiserver writes an internal Go struct, whose fields have Go names and
// are never omitted.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { child, objects, value } from '../values.ts';

const RULES = ['stabilizationWindowSeconds', 'selectPolicy', 'policies', 'tolerance'];
const POLICY = ['type', 'value', 'periodSeconds'];
const goName = (field: string): string => field[0]!.toUpperCase() + field.slice(1);

export const behaviorToGo = (behavior: JsonObject): JsonObject => ({
  ScaleUp: rulesToGo(child(behavior, 'scaleUp')),
  ScaleDown: rulesToGo(child(behavior, 'scaleDown')),
});

function rulesToGo(rules: JsonObject | undefined): JsonObject | null {
  if (!rules) return null;
  const policies = objects(rules, 'policies').map((policy) =>
    Object.fromEntries(POLICY.map((field) => [goName(field), value(policy, field) ?? null])),
  );
  const given: Record<string, Json | undefined> = { ...rules, policies };
  return Object.fromEntries(RULES.map((field) => [goName(field), given[field] ?? null]));
}

/** Undefined when no rules are given. Names are compared without case, as Go does it. */
export function behaviorFromGo(behavior: Json | undefined): JsonObject | undefined {
  const read = (name: string) => rulesFromGo(field(behavior, name));
  const [scaleUp, scaleDown] = [read('scaleUp'), read('scaleDown')];
  if (!scaleUp && !scaleDown) return undefined;
  return { ...(scaleUp ? { scaleUp } : {}), ...(scaleDown ? { scaleDown } : {}) };
}

function rulesFromGo(rules: Json | undefined): JsonObject | undefined {
  if (!isObject(rules)) return undefined;
  const out: JsonObject = {};
  for (const name of RULES) {
    const given = field(rules, name);
    if (given === undefined || given === null) continue;
    out[name] = name === 'policies' && Array.isArray(given) ? given.map(policyFromGo) : given;
  }
  return out;
}

const policyFromGo = (policy: Json): JsonObject =>
  Object.fromEntries(
    POLICY.flatMap((name) => {
      const given = field(policy, name);
      return given === undefined ? [] : [[name, given]];
    }),
  );

function field(struct: Json | undefined, name: string): Json | undefined {
  if (!isObject(struct)) return undefined;
  const key = Object.keys(struct).find((other) => other.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : struct[key];
}
