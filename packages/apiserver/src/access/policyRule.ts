// RBAC policy rules: what a rule allows, and whether rules cover other rules.

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { objects, texts } from '../strategies/values.ts';
import { type Attributes, isPath, type PathAttributes, type ResourceAttributes } from './attributes.ts';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

const parseRule = (json: JsonObject): PolicyRule => ({
  verbs: texts(json, 'verbs'),
  apiGroups: texts(json, 'apiGroups'),
  resources: texts(json, 'resources'),
  resourceNames: texts(json, 'resourceNames'),
  nonResourceURLs: texts(json, 'nonResourceURLs'),
});

/** The rules of a role. */
export const parseRules = (role: KubeObject): PolicyRule[] => objects(role, 'rules').map(parseRule);

/** The rule as shown in a review. */
export function ruleJson(rule: PolicyRule): JsonObject {
  const out: JsonObject = {};
  for (const [name, values] of Object.entries(rule) as [string, readonly string[]][])
    if (values.length > 0) out[name] = [...values];
  return out;
}

/** The rights of an administrator. */
export const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

const hasOrAll = (values: readonly string[], value: string): boolean =>
  values.includes('*') || values.includes(value);

export const allows = (rule: PolicyRule, attributes: Attributes): boolean =>
  hasOrAll(rule.verbs, attributes.verb) &&
  (isPath(attributes) ? allowsPath(rule, attributes) : allowsResource(rule, attributes));

function allowsResource(rule: PolicyRule, attributes: ResourceAttributes): boolean {
  const { group, resource, subresource, name } = attributes;
  return (
    hasOrAll(rule.apiGroups, group) &&
    matchesResource(rule.resources, resource, subresource) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

function matchesResource(resources: readonly string[], resource: string, subresource: string): boolean {
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  if (hasOrAll(resources, combined)) return true;
  return subresource !== '' && resources.includes(`*/${subresource}`);
}

const allowsPath = (rule: PolicyRule, { path }: PathAttributes): boolean =>
  rule.nonResourceURLs.some((url) => matchesUrl(url, path));

function matchesUrl(url: string, path: string): boolean {
  if (url === '*' || url === path) return true;
  return url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''));
}

/** Splits a rule into single verbs on a single resource (and name) or path, the unit of comparison. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const one = (verb: string, more: Partial<PolicyRule>): PolicyRule => ({
    verbs: [verb],
    apiGroups: [],
    resources: [],
    resourceNames: [],
    nonResourceURLs: [],
    ...more,
  });
  const names = rule.resourceNames.length === 0 ? [undefined] : rule.resourceNames;
  const onResources = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        names.map((name) =>
          one(verb, {
            apiGroups: [group],
            resources: [resource],
            resourceNames: name === undefined ? [] : [name],
          }),
        ),
      ),
    ),
  );
  const onPaths = rule.nonResourceURLs.flatMap((url) =>
    rule.verbs.map((verb) => one(verb, { nonResourceURLs: [url] })),
  );
  return [...onResources, ...onPaths];
}

function isCovered(part: PolicyRule, owned: PolicyRule): boolean {
  if (!hasOrAll(owned.verbs, part.verbs[0]!)) return false;
  const [url] = part.nonResourceURLs;
  if (url !== undefined) return owned.nonResourceURLs.some((mine) => matchesUrl(mine, url));
  const [resource = '', subresource = ''] = part.resources[0]!.split('/');
  return (
    hasOrAll(owned.apiGroups, part.apiGroups[0]!) &&
    matchesResource(owned.resources, resource, subresource) &&
    (owned.resourceNames.length === 0 ||
      (part.resourceNames.length > 0 && owned.resourceNames.includes(part.resourceNames[0]!)))
  );
}

/** The wanted rights that the owned rules do not allow, grouped by resource. */
export function missingRights(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const missing = wanted.flatMap(breakDown).filter((part) => !owned.some((rule) => isCovered(part, rule)));
  const compact = new Map<string, PolicyRule>();
  for (const part of missing) {
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames, part.nonResourceURLs]);
    const known = part.nonResourceURLs.length > 0 ? undefined : compact.get(key);
    if (known === undefined)
      compact.set(part.nonResourceURLs.length > 0 ? `${key}${part.verbs[0]}` : key, part);
    else compact.set(key, { ...known, verbs: [...known.verbs, ...part.verbs] });
  }
  return [...compact.values()];
}

const goList = (values: readonly string[]): string => `[${values.map((v) => JSON.stringify(v)).join(' ')}]`;

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
export function describeRule(rule: PolicyRule): string {
  const parts: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = parts
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:${goList(values)}`);
  return `{${shown.join(', ')}}`;
}
