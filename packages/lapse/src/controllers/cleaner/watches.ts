// The watches of Cleaners: an index of which Cleaners read which objects, updated with every reconcile. A change of an
// object triggers only the Cleaners whose name or labels match it before or after the change.

import { type Instant, isDue, minutes, plus } from '@lapse/base/instant';
import { type Kind, metadataOf, type ObjectKey } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { DynamicView, ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Source } from '@lapse/runtime/source';
import type { Context } from './context.ts';
import type { Kinds, Resolved } from './kinds.ts';
import type { Target } from './spec.ts';
import { hasLabels, isSecret, projectionOf } from './targets.ts';

export interface Interest {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  /** At most one of `name` and `labels`. Neither: any object whose name ends with `suffix`. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly suffix?: string;
}

const placeOf = (group: string, resource: string, namespace: string): string =>
  `${group}/${resource}/${namespace}`;

function concerns({ name, labels, suffix }: Interest, object: KubeObject): boolean {
  if (name !== undefined) return object.metadata.name === name;
  if (labels !== undefined) return hasLabels(object, labels);
  return suffix !== undefined && (object.metadata.name ?? '').endsWith(suffix);
}

/** Index keys of an object: one bucket by name, one per label pair, one for name suffixes. */
const named = (place: string, name: string): string => `${place}/name/${name}`;
const labelled = (place: string, key: string, value: string): string => `${place}/label/${key}=${value}`;
const suffixed = (place: string): string => `${place}/suffix`;

/** One label pair is enough to find an interest. All pairs are compared afterwards. */
function bucketOf({ group, resource, namespace, name, labels }: Interest): string {
  const place = placeOf(group, resource, namespace);
  if (name !== undefined) return named(place, name);
  const [pair] = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? 1 : -1));
  return pair === undefined ? suffixed(place) : labelled(place, ...pair);
}

interface Entry {
  readonly key: ObjectKey;
  readonly interest: Interest;
}

export class Interests {
  readonly #byKey = new Map<string, readonly string[]>();
  readonly #buckets = new Map<string, Map<string, Entry[]>>();

  /** Number of Cleaners in the index. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Replaces the interests of the key. */
  set(key: ObjectKey, interests: readonly Interest[]): void {
    const id = idOf(key);
    for (const bucket of this.#byKey.get(id) ?? []) this.#leave(bucket, id);
    this.#byKey.delete(id);
    if (interests.length === 0) return;
    const byBucket = Map.groupBy(interests, bucketOf);
    this.#byKey.set(id, [...byBucket.keys()]);
    for (const [bucket, here] of byBucket) {
      const known = this.#buckets.get(bucket) ?? new Map<string, Entry[]>();
      const entries = here.map((interest) => ({ key, interest }));
      this.#buckets.set(bucket, known.set(id, entries));
    }
  }

  /** The Cleaners that an object of a source concerns, each once. */
  *concerned(object: KubeObject, { kind, namespace = '' }: Source): Generator<ObjectKey> {
    const place = placeOf(kind.group, kind.resource, namespace);
    const { name = '', labels = {} } = object.metadata;
    const buckets = [named(place, name), suffixed(place)];
    for (const [label, value] of Object.entries(labels)) buckets.push(labelled(place, label, value));
    const enqueued = new Set<string>();
    for (const bucket of buckets)
      for (const [id, entries] of this.#buckets.get(bucket) ?? []) {
        if (enqueued.has(id) || !entries.some(({ interest }) => concerns(interest, object))) continue;
        enqueued.add(id);
        yield entries[0]!.key;
      }
  }

  #leave(bucket: string, id: string): void {
    const here = this.#buckets.get(bucket);
    here?.delete(id);
    if (here?.size === 0) this.#buckets.delete(bucket);
  }
}

const idOf = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;

const Definitions = metadataOf(CustomResourceDefinition);
const FRESH = minutes(1);

export interface Watching {
  /** By `kindId`, for each resolved, included target. */
  readonly views: ReadonlyMap<string, DynamicView>;
  /** The watch of CRDs. Set when a kind is missing. */
  readonly definitions?: DynamicView;
}

export const kindId = ({ group, version, resource }: Kind): string => `${group}/${version}/${resource}`;

/** Declares the watches of the Cleaner and the objects that trigger it. */
export function watch(ctx: ReconcileContext, context: Context, kinds: Kinds): Watching {
  const namespace = ctx.key.namespace ?? '';
  const included = kinds.resolved.filter(({ target }) => target.included);
  const groups = groupsOf(kinds.unserved.filter((target) => target.included));
  groups.delete('');
  context.interests.set(ctx.key, [
    ...included.map((resolved) => interestOf(resolved, namespace)),
    ...[...groups].map(interestInGroup),
  ]);
  const { bindSecretData } = context.options;
  const sources = new Map(
    included.map(({ kind }): [string, Source] => {
      const projection = isSecret(kind) ? { projection: projectionOf(kind, bindSecretData) } : {};
      return [kindId(kind), { kind, namespace, ...projection }];
    }),
  );
  const hasMissing = groups.size > 0;
  const views = ctx.dynamic.declare([
    ...sources.values(),
    ...(hasMissing ? [{ kind: Definitions } as Source] : []),
  ]);
  return {
    views: new Map([...sources.keys()].map((id, i) => [id, views[i]!])),
    ...(hasMissing ? { definitions: views.at(-1)! } : {}),
  };
}

/** Removes all watches of the Cleaner. */
export function watchNothing(ctx: ReconcileContext, context: Context): void {
  context.interests.set(ctx.key, []);
  ctx.dynamic.declare([]);
}

function interestOf({ target, kind }: Resolved, namespace: string): Interest {
  const { name, matchLabels } = target.reference;
  const { group, resource } = kind;
  return { group, resource, namespace, ...(name ? { name } : { labels: matchLabels ?? {} }) };
}

const interestInGroup = (group: string): Interest => ({
  group: Definitions.group,
  resource: Definitions.resource,
  namespace: '',
  suffix: `.${group}`,
});

/** Whether the CRDs of missing groups changed since the groups were last found missing. */
export function isNewsOfDefinitions(
  context: Context,
  { definitions }: Watching,
  kinds: Kinds,
  now: Instant,
): boolean {
  if (definitions === undefined || !definitions.status.synced) return false;
  let news = false;
  for (const group of groupsOf(kinds.unserved)) {
    const versions = [...definitions.reader.list()]
      .filter(({ metadata }) => (metadata.name ?? '').endsWith(`.${group}`))
      .map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`);
    const text = versions.sort().join(',');
    if (context.definitions.get(group)?.text === text) continue;
    context.definitions.set(group, { text, since: now });
    news = true;
  }
  return news;
}

const groupsOf = (targets: readonly Target[]): Set<string> =>
  new Set(targets.map(({ reference }) => reference.apiGroup ?? ''));

/** A CRD of a missing group was created or changed a moment ago: the API server may not serve its kind yet. */
export const isFresh = (context: Context, unserved: readonly Target[], now: Instant): boolean =>
  [...groupsOf(unserved)].some((group) => {
    const known = context.definitions.get(group);
    return known !== undefined && known.text !== '' && !isDue(plus(known.since, FRESH), now);
  });
