// Computes the accepted names of a CRD and the conditions that depend on its spec alone. Pure functions.

import { equal, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Condition, findCondition } from './conditions.ts';
import { type Crd, type Names, objectAt } from './crd.ts';
import { approvalOf, isProtectedGroup } from './validate/approval.ts';
import { isCaBundle } from './validate/conversion.ts';
import { structuralViolations } from './validate/structure.ts';

export interface NamesResult {
  /** The requested names where they are free, the previous ones otherwise. */
  readonly names: Names;
  readonly accepted: Condition;
}

/** Plurals, singulars and short names share one namespace in a group; kinds and list kinds another. */
export function computeNames(requested: Names, previous: Names, others: readonly Names[]): NamesResult {
  const resources = new Set(others.flatMap((n) => [n.plural, n.singular, ...n.shortNames]));
  const kinds = new Set(others.flatMap((n) => [n.kind, n.listKind]));
  let conflict: { reason: string; message: string } | undefined;
  const choose = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    used: ReadonlySet<string>,
    reason: string,
  ) => {
    const name = requested[field];
    if (name === previous[field] || !used.has(name)) return name;
    conflict = { reason, message: inUse(name) };
    return previous[field];
  };
  const plural = choose('plural', resources, 'PluralConflict');
  const singular = choose('singular', resources, 'SingularConflict');
  const taken = requested.shortNames.filter((n) => !previous.shortNames.includes(n) && resources.has(n));
  if (taken.length > 0) conflict = { reason: 'ShortNamesConflict', message: aggregate(taken.map(inUse)) };
  const kind = choose('kind', kinds, 'KindConflict');
  const listKind = choose('listKind', kinds, 'ListKindConflict');
  return {
    names: {
      plural,
      singular,
      kind,
      listKind,
      shortNames: taken.length > 0 ? previous.shortNames : requested.shortNames,
      categories: requested.categories,
    },
    accepted: conflict
      ? { type: 'NamesAccepted', status: 'False', ...conflict }
      : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
  };
}

const inUse = (name: string) => `${JSON.stringify(name)} is already in use`;
const aggregate = (texts: readonly string[]) => (texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`);

export const sameNames = (a: Names, b: Names): boolean => equal(a as unknown as Json, b as unknown as Json);

/** Names in the form of the status: empty lists are omitted. */
export const namesJson = (names: Names): JsonObject => ({
  plural: names.plural,
  ...(names.singular ? { singular: names.singular } : {}),
  ...(names.shortNames.length > 0 ? { shortNames: [...names.shortNames] } : {}),
  kind: names.kind,
  ...(names.listKind ? { listKind: names.listKind } : {}),
  ...(names.categories.length > 0 ? { categories: [...names.categories] } : {}),
});

/** The Established condition: true once the names are accepted, with its reason before that. */
export function computeInstalling(object: KubeObject, namesAccepted: boolean): Condition {
  const old = findCondition(object, 'Established');
  if (old?.status !== 'True' && namesAccepted) {
    return {
      type: 'Established',
      status: 'False',
      reason: 'Installing',
      message: 'the initial names have been accepted',
    };
  }
  if (old) return old;
  return {
    type: 'Established',
    status: 'False',
    reason: 'NotAccepted',
    message: 'not all names are accepted',
  };
}

export function computeEstablished({ spec }: Crd): Condition {
  const config = objectAt(objectAt(spec.conversion ?? {}, 'webhook'), 'clientConfig');
  const bundle = config['caBundle'];
  if (typeof bundle === 'string' && bundle !== '' && !isCaBundle(bundle)) {
    const message = 'The conversion webhook CABundle is invalid';
    return { type: 'Established', status: 'False', reason: 'InvalidCABundle', message };
  }
  const message = 'the initial names have been accepted';
  return { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message };
}

const APPROVAL = {
  approved: ['True', 'ApprovedAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
  missing: ['False', 'MissingAnnotation'],
  invalid: ['False', 'InvalidAnnotation'],
} as const;

/** Only CRDs in groups of the Kubernetes community have this condition. */
export function computeApproval(object: KubeObject, { spec }: Crd): Condition | undefined {
  if (!isProtectedGroup(spec.group)) return undefined;
  const { state, reason } = approvalOf(object);
  const [status, why] = APPROVAL[state];
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason: why, message: reason };
}

/** For a CRD that is stored but would be rejected today. */
export function computeNonStructural({ spec }: Crd): Condition | undefined {
  const violations = spec.preserveUnknownFields
    ? ['spec.preserveUnknownFields: Invalid value: true: must be false']
    : [];
  for (const [i, version] of spec.versions.entries()) {
    const schema = version.schema?.openAPIV3Schema;
    if (!schema) continue;
    const at = `spec.versions[${i}].schema.openAPIV3Schema`;
    violations.push(...structuralViolations(schema, at).map((e) => `${e.field}: ${e.message}`));
  }
  if (violations.length === 0) return undefined;
  return {
    type: 'NonStructuralSchema',
    status: 'True',
    reason: 'Violations',
    message: aggregate(violations),
  };
}
