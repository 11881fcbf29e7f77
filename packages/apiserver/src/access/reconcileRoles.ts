// Reconciles a default role or binding at server start: restores what is missing and keeps what was added. An
// annotation on the object disables this.

import { clone, equal, type JsonObject } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { child, objects } from '../strategies/values.ts';
import { missingRights, parseRules, ruleJson } from './policyRule.ts';

export const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

export type Reconciled =
  | { readonly kind: 'asItIs' }
  | { readonly kind: 'update'; readonly object: KubeObject }
  /** The binding refers to another role, which is immutable. */
  | { readonly kind: 'replace' };

export function reconcileRole(existing: KubeObject, expected: KubeObject): Reconciled {
  const next = withMeta(existing, expected);
  const missing = missingRights(parseRules(existing), parseRules(expected)).map(ruleJson);
  if (missing.length > 0) next['rules'] = [...objects(existing, 'rules'), ...missing];
  const wanted = child(expected, 'aggregationRule');
  if (wanted === undefined) delete next['aggregationRule'];
  else next['aggregationRule'] = withSelectors(child(existing, 'aggregationRule'), wanted);
  return outcome(existing, next);
}

export function reconcileBinding(existing: KubeObject, expected: KubeObject): Reconciled {
  if (isLeftAlone(existing)) return { kind: 'asItIs' };
  if (!equal(child(existing, 'roleRef'), child(expected, 'roleRef'))) return { kind: 'replace' };
  const next = withMeta(existing, expected);
  const present = objects(existing, 'subjects');
  const missing = lacking(present, objects(expected, 'subjects'));
  if (missing.length > 0) next['subjects'] = [...present, ...missing];
  return outcome(existing, next);
}

const isLeftAlone = ({ metadata }: KubeObject): boolean => metadata.annotations?.[AUTOUPDATE] === 'false';

function outcome(existing: KubeObject, next: KubeObject): Reconciled {
  const isSame = isLeftAlone(existing) || equal(asJson(existing), asJson(next));
  return isSame ? { kind: 'asItIs' } : { kind: 'update', object: next };
}

/** A copy with the missing labels and annotations; existing ones are not changed. */
function withMeta(existing: KubeObject, { metadata }: KubeObject): KubeObject {
  const next = asObject(clone(asJson(existing)));
  for (const field of ['labels', 'annotations'] as const)
    next.metadata[field] = { ...metadata[field], ...existing.metadata[field] };
  return next;
}

function withSelectors(existing: JsonObject | undefined, wanted: JsonObject): JsonObject {
  const present = objects(existing, 'clusterRoleSelectors');
  const missing = lacking(present, objects(wanted, 'clusterRoleSelectors'));
  return { ...existing, clusterRoleSelectors: [...present, ...missing] };
}

const lacking = (present: readonly JsonObject[], wanted: readonly JsonObject[]): JsonObject[] =>
  wanted.filter((item) => !present.some((other) => equal(other, item)));
