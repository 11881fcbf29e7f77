// The input of conditions: the objects of included targets, as one value per target. The input has the same form
// whether it comes from a cache or from the API server, so both evaluations of a deletion are comparable.

import { sha256 } from '@lapse/base/codec';
import type { Bindings } from '@lapse/cel/cel';
import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { type Projection, whole } from '@lapse/runtime/source';
import { describeTarget } from './kinds.ts';
import type { Target } from './spec.ts';

/** Limit of objects bound in one evaluation. */
export const MOST_BOUND = 10_000;
const MOST_SHOWN = 200;

/** A target and the kind it resolves to. */
export interface Resolved {
  readonly target: Target;
  readonly kind: ServedKind;
}

/** A target and its objects. A target with a name has at most one. */
export interface Found extends Resolved {
  readonly objects: readonly KubeObject[];
}

/** Removes the data of Secrets before any code of the controller reads them. */
export const withoutSecrets: Projection<KubeObject> = {
  name: 'withoutSecrets',
  project(object) {
    const { data: _data, stringData: _stringData, ...rest } = whole.project(object);
    return { ...rest, metadata: withoutLastApplied(rest.metadata) } as KubeObject;
  },
};

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** kubectl stores a copy of the applied manifest in an annotation. */
export function withoutLastApplied(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  if (metadata.annotations?.[LAST_APPLIED] === undefined) return metadata;
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations;
  return { ...metadata, annotations };
}

export const isSecret = ({ group, resource }: Kind): boolean => group === '' && resource === 'secrets';

/** Which part of an object conditions may read. */
export const projectionOf = (kind: Kind, bindSecretData: boolean): Projection<KubeObject> =>
  isSecret(kind) && !bindSecretData ? withoutSecrets : whole;

/** One value per included target: the object, null if it does not exist, or a List. */
export function bindingsOf(found: readonly Found[]): Bindings {
  const bound = found
    .filter(({ target }) => target.included)
    .map(({ target, kind, objects }): [string, unknown] => [
      target.name,
      target.reference.name ? (objects[0] ?? null) : listOf(kind, objects),
    ]);
  return Object.fromEntries(bound);
}

const listOf = (kind: Kind, items: readonly KubeObject[]) => ({
  apiVersion: apiVersionOf(kind),
  kind: `${kind.kind}List`,
  metadata: {},
  items,
});

export const boundCount = (found: readonly Found[]): number =>
  found.reduce((sum, { target, objects }) => sum + (target.included ? objects.length : 0), 0);

/**
 * Included targets whose named object does not exist. Targets to be deleted are not counted: a missing one is
 * already done.
 */
export const missingOf = (found: readonly Found[]): Found[] =>
  found.filter(
    ({ target, objects }) =>
      target.included && !target.delete && target.reference.name && objects.length === 0,
  );

/** A string that stays the same as long as none of the objects read has changed. */
export function fingerprint(generation: number, found: readonly Found[]): string {
  const parts = found
    .filter(({ target }) => target.included)
    .map(({ target, objects }) => {
      const versions = objects.map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`);
      return `${target.name}=${versions.sort().join(',')}`;
    });
  return sha256(`${generation};${parts.join(';')}`);
}

export interface Shown {
  readonly resolvedTargets: string[];
  readonly resolvedTargetCount: number;
}

/** For display in status: sorted, without duplicates, at most 200. */
export function shownOf(found: readonly Found[]): Shown {
  const names = new Set(
    found.flatMap(({ kind, objects }) =>
      objects.map(({ metadata }) => describeTarget(kind, metadata.name ?? '')),
    ),
  );
  return { resolvedTargets: [...names].sort().slice(0, MOST_SHOWN), resolvedTargetCount: names.size };
}
