// What conditions get to see: the objects of included targets, as one value per target. The same whether they come from a
// cache or straight from the server, so that both evaluations of a deletion see the same things.

import { sha256 } from '@lapse/base/codec';
import type { Bindings } from '@lapse/cel/cel';
import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { type Projection, whole } from '@lapse/runtime/source';
import { describeTarget } from './kinds.ts';
import type { Target } from './spec.ts';

/** Objects that may be bound altogether. */
export const MOST_BOUND = 10_000;
const MOST_SHOWN = 200;

/** A target and the kind it was found to be. */
export interface Resolved {
  readonly target: Target;
  readonly kind: ServedKind;
}

/** A target and its objects; of a named one there is one or none. */
export interface Found extends Resolved {
  readonly objects: readonly KubeObject[];
}

/** Secrets lose what is secret about them before anybody here sees them. */
export const withoutSecrets: Projection<KubeObject> = {
  name: 'withoutSecrets',
  project(object) {
    const { data: _data, stringData: _stringData, ...rest } = whole.project(object);
    return { ...rest, metadata: withoutLastApplied(rest.metadata) } as KubeObject;
  },
};

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** kubectl keeps a copy of everything it applied. */
export function withoutLastApplied(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  if (metadata.annotations?.[LAST_APPLIED] === undefined) return metadata;
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations;
  return { ...metadata, annotations };
}

export const isSecret = ({ group, resource }: Kind): boolean => group === '' && resource === 'secrets';

/** How much of an object conditions may see. */
export const projectionOf = (kind: Kind, bindSecretData: boolean): Projection<KubeObject> =>
  isSecret(kind) && !bindSecretData ? withoutSecrets : whole;

/** One value per included target: the object, null where it does not exist, or a List of them. */
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

/** Included targets that name an object which does not exist. What is to be deleted may be gone: that counts as done. */
export const missingOf = (found: readonly Found[]): Found[] =>
  found.filter(
    ({ target, objects }) =>
      target.included && !target.delete && target.reference.name && objects.length === 0,
  );

/** A text that is the same as long as nothing that was looked at has changed. */
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

/** For people: sorted, without repetitions, the first two hundred. */
export function shownOf(found: readonly Found[]): Shown {
  const names = new Set(
    found.flatMap(({ kind, objects }) =>
      objects.map(({ metadata }) => describeTarget(kind, metadata.name ?? '')),
    ),
  );
  return { resolvedTargets: [...names].sort().slice(0, MOST_SHOWN), resolvedTargetCount: names.size };
}
