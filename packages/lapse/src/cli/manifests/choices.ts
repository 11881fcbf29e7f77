// The rights that values of the configuration add to a family: rules that the chart grants only with these values.
// Determined by assembling the family with each of them.

import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { rightsOf } from '@lapse/runtime/definition';
import type { Family } from '#controllers/family';
import { type Rule, rulesOf } from '#manager/rbac';
import { partsOf } from './needs.ts';

export interface Choice {
  /** A section of the configuration, and a field in it: `requestTTL`, `mode`. */
  readonly section: string;
  readonly field: string;
  /** Undefined: each item of the list is a resource, such as `configmaps` or `runs.example.com`. */
  readonly value?: string;
  /** Rules with the resource `ITEM` apply to the resource of each item. */
  readonly rules: readonly Rule[];
}

export const ITEM = 'ITEM';

/** Only values that add rights. Rights that a value would make unnecessary are still granted. */
export function choicesOf(family: Family, known: readonly Family[]): Choice[] {
  const rulesWith = (file: JsonObject): Rule[] =>
    rulesOf(partsOf(family, known, {}, file).controllers.flatMap(rightsOf));
  const usual = rulesWith({});
  return fieldsOf(family)
    .map((choice) => {
      const value = choice.value ?? [ITEM];
      const rules = rulesWith({ [choice.section]: { [choice.field]: value } });
      return { ...choice, rules: rules.flatMap((rule) => addedTo(usual, rule)) };
    })
    .filter(({ rules }) => rules.length > 0);
}

/** Every value of every enum, and every list of strings. */
function fieldsOf({ configuration }: Family): Omit<Choice, 'rules'>[] {
  return Object.entries(configuration).flatMap(([section, { properties }]) =>
    Object.entries(isObject(properties) ? properties : {}).flatMap(([field, schema]) => {
      if (!isObject(schema)) return [];
      const { enum: values, type } = schema;
      if (Array.isArray(values)) return values.map((value) => ({ section, field, value: String(value) }));
      return type === 'array' ? [{ section, field }] : [];
    }),
  );
}

function addedTo(usual: readonly Rule[], rule: Rule): Rule[] {
  const isSame = (other: Rule) =>
    other.apiGroups[0] === rule.apiGroups[0] && other.resources[0] === rule.resources[0];
  const before = usual.find(isSame)?.verbs ?? [];
  const verbs = rule.verbs.filter((verb) => !before.includes(verb));
  return verbs.length === 0 ? [] : [{ ...rule, verbs }];
}
