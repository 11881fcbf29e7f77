// Roles and bindings, parsed for authorization. Every request is checked against all bindings, and the store keeps
// few objects parsed. So each version is parsed once and kept as long as the version.

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Stored } from '../store/stored.ts';
import { child, objects, part, text } from '../strategies/values.ts';
import { type PolicyRule, parseRules } from './policyRule.ts';

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  /** Empty: the namespace of the binding. */
  readonly namespace: string;
}

export interface Binding {
  readonly name: string;
  readonly subjects: readonly Subject[];
  readonly ref: RoleRef;
}

export interface Role {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The own rules, which are ignored when the role aggregates. */
  readonly rules: readonly PolicyRule[];
  /** Selectors of the aggregated roles; undefined when the role does not aggregate. */
  readonly selectors: readonly JsonObject[] | undefined;
}

function oncePerVersion<T>(read: (object: KubeObject) => T): (stored: Stored) => T {
  const known = new WeakMap<Stored, { readonly value: T }>();
  return (stored) => {
    let entry = known.get(stored);
    if (entry === undefined) {
      entry = { value: read(stored.object) };
      known.set(stored, entry);
    }
    return entry.value;
  };
}

export const readBinding = oncePerVersion<Binding>((object) => {
  const ref = part(object, 'roleRef');
  return {
    name: object.metadata.name ?? '',
    subjects: objects(object, 'subjects').map((subject) => ({
      kind: text(subject, 'kind'),
      name: text(subject, 'name'),
      namespace: text(subject, 'namespace'),
    })),
    ref: { kind: text(ref, 'kind'), name: text(ref, 'name') },
  };
});

export const readRole = oncePerVersion<Role>((object) => {
  const { name = '', labels = {} } = object.metadata;
  const aggregation = child(object, 'aggregationRule');
  return {
    name,
    labels,
    rules: parseRules(object),
    selectors: aggregation && objects(aggregation, 'clusterRoleSelectors'),
  };
});
