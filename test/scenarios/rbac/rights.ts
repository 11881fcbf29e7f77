// Roles as single rights: lists them, and returns the same roles with one right removed. Pure.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Rule } from 'lapse/manager/rbac';

/** One verb of one rule. */
export interface OneRight {
  /** As formatted by describeRight. */
  readonly text: string;
  readonly verb: string;
  /** What the API server answers if it is missing. The rest of the message is about the object. */
  readonly refusal: string;
  /** Its position: the object, the rule in the object, the verb in the rule. */
  readonly at: readonly [object: number, rule: number, verb: number];
}

const rulesOf = (object: KubeObject): readonly Rule[] => (object as { rules?: Rule[] }).rules ?? [];

/** `get secrets lapse-webhook`, `patch events.events.k8s.io`, `patch pods/status`. */
export function describeRight({ apiGroups, resources, resourceNames = [] }: Rule, verb: string): string {
  const [group = ''] = apiGroups;
  const [resource = '', subresource] = resources[0]!.split('/');
  const full = [group === '' ? resource : `${resource}.${group}`, subresource].filter(Boolean).join('/');
  return [verb, full, ...resourceNames].join(' ');
}

/** Without the right to impersonate, the API server reports the request that was to be impersonated. */
const describeRefusal = ({ apiGroups, resources }: Rule, verb: string): string =>
  verb === 'impersonate'
    ? 'cannot impersonate'
    : `cannot ${verb} resource "${resources[0]}" in API group "${apiGroups[0]}"`;

/** All rights of these roles, one by one. A rule that names several groups or resources would hide some of them. */
export function rightsIn(objects: readonly KubeObject[]): OneRight[] {
  return objects.flatMap((object, o) =>
    rulesOf(object).flatMap((rule, r) => {
      if (rule.apiGroups.length !== 1 || rule.resources.length !== 1)
        throw new Error(`a rule of ${object.metadata.name} is about more than one resource`);
      return rule.verbs.map((verb, v) => ({
        verb,
        text: describeRight(rule, verb),
        refusal: describeRefusal(rule, verb),
        at: [o, r, v] as const,
      }));
    }),
  );
}

/** The same objects without this right. A rule without verbs is removed. */
export function withoutRight(objects: readonly KubeObject[], { at: [o, r, v] }: OneRight): KubeObject[] {
  return objects.map((object, index) => {
    if (index !== o) return object;
    const rules = rulesOf(object)
      .map((rule, at) => (at === r ? { ...rule, verbs: rule.verbs.filter((_, verb) => verb !== v) } : rule))
      .filter(({ verbs }) => verbs.length > 0);
    return { ...object, rules } as KubeObject;
  });
}
