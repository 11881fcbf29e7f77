// The objects of targets, from a cache or from the API server, and the input of conditions: one value per included target.
// Both sources give the same form, so both evaluations of a deletion are comparable.

import { sha256 } from '@lapse/base/codec';
import type { Bindings } from '@lapse/cel/cel';
import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { DynamicView } from '@lapse/runtime/reconcileContext';
import { type Projection, whole } from '@lapse/runtime/source';
import { type AuthorizedClient, type Read, selectorOf } from '#authors/authorizedClient';
import { describeTarget, type Resolved } from './kinds.ts';

/** Limit of objects bound in one evaluation. */
export const MOST_BOUND = 10_000;
const MOST_SHOWN = 200;
/** Limit of objects of a target that conditions do not read. More objects may not be deleted at once. */
const MOST_LISTED = 2000;

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

export function hasLabels(object: KubeObject, wanted: Readonly<Record<string, string>>): boolean {
  const labels = object.metadata.labels ?? {};
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

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

/** The objects of an included target in the cache: up to `most`, plus one if there are more. */
export function fromCache(
  { target, kind }: Resolved,
  { reader }: { readonly reader: Pick<DynamicView['reader'], 'get' | 'list'> },
  namespace: string,
  most: number,
): Found {
  const { name, matchLabels = {} } = target.reference;
  if (name) {
    const object = reader.get({ namespace, name });
    return { target, kind, objects: object === undefined ? [] : [object] };
  }
  const objects: KubeObject[] = [];
  for (const object of reader.list()) {
    if (!hasLabels(object, matchLabels)) continue;
    objects.push(object);
    if (objects.length > most) break;
  }
  return { target, kind, objects: objects.sort(byName) };
}

const byName = (a: KubeObject, b: KubeObject): number =>
  (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;

/** The objects of a target on the API server. For targets that conditions do not read, the metadata only. */
export async function fromServer(
  client: AuthorizedClient,
  { target, kind }: Resolved,
  namespace: string,
  bindSecretData: boolean,
): Promise<Read<Found>> {
  const { name, matchLabels = {} } = target.reference;
  const most = target.included ? MOST_BOUND : MOST_LISTED;
  const source = (target.included ? kind : metadataOf(kind)) as Kind;
  const read = name
    ? asList(await client.get(source, { namespace, name }))
    : await client.list(source, { namespace, labelSelector: selectorOf(matchLabels), most });
  if (read.kind !== 'read') return read;
  const { project } = projectionOf(kind, bindSecretData);
  const objects = target.included ? read.value.map((object) => project(object)) : read.value;
  return { kind: 'read', value: { target, kind, objects: [...objects].sort(byName) } };
}

const asList = (read: Read<KubeObject | undefined>): Read<KubeObject[]> =>
  read.kind === 'read' ? { kind: 'read', value: read.value === undefined ? [] : [read.value] } : read;
