// Finds the objects of targets: kinds through discovery, objects through watches where conditions read them, and
// directly from the API server for other targets and before a deletion.

import { type Instant, isDue, minutes, plus } from '@lapse/base/instant';
import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Discovery, ServedKind } from '@lapse/kube/client/discovery';
import type { DynamicView, ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Source } from '@lapse/runtime/source';
import type { Cleaner } from '#api/cleaner';
import { type AuthorizedClient, type Read, selectorOf } from '#authors/authorizedClient';
import type { Context } from './context.ts';
import { hasLabels, type Interest } from './interests.ts';
import { findKind } from './kinds.ts';
import { type Found, isSecret, MOST_BOUND, projectionOf, type Resolved } from './snapshot.ts';
import { isDecisive, type Target } from './spec.ts';

export interface Kinds {
  readonly resolved: readonly Resolved[];
  readonly unserved: readonly Target[];
  /** Targets with a permanent error. */
  readonly refused: readonly { readonly target: Target; readonly why: string }[];
}

/** Resolves the kind of each target. */
export function sortKinds(all: readonly ServedKind[], targets: readonly Target[]): Kinds {
  const resolved: Resolved[] = [];
  const unserved: Target[] = [];
  const refused: { target: Target; why: string }[] = [];
  for (const target of targets) {
    const found = findKind(all, target.reference);
    if (found.kind === 'found') resolved.push({ target, kind: found.served });
    else if (found.kind === 'notServed') unserved.push(target);
    else refused.push({ target, why: found.why });
  }
  return { resolved, unserved, refused };
}

/** Refreshes discovery once for unknown kinds, as often as discovery permits. */
export async function resolveKinds(discovery: Discovery, targets: readonly Target[]): Promise<Kinds> {
  const known = sortKinds(await discovery.all(), targets);
  const first = known.unserved.find(isDecisive);
  if (first === undefined) return known;
  await discovery.find({ group: first.reference.apiGroup ?? '', kind: first.reference.kind });
  return sortKinds(await discovery.all(), targets);
}

const Definitions = metadataOf(CustomResourceDefinition);
const FRESH = minutes(1);
/** Limit of objects of a target that conditions do not read. More objects may not be deleted at once. */
const MOST_LISTED = 2000;

export interface Watching {
  /** By the kind of each resolved, included target. */
  readonly views: ReadonlyMap<ServedKind, DynamicView>;
  /** The watch of CRDs. Set when a kind is missing. */
  readonly definitions?: DynamicView;
}

/** Declares the watches of the Cleaner and the objects that trigger it. */
export function watch(ctx: ReconcileContext, context: Context, cleaner: Cleaner, kinds: Kinds): Watching {
  const namespace = cleaner.metadata.namespace ?? '';
  const included = kinds.resolved.filter(({ target }) => target.included);
  const groups = new Set(
    kinds.unserved.filter((target) => target.included).map(({ reference }) => reference.apiGroup ?? ''),
  );
  groups.delete('');
  context.interests.set(ctx.key, [
    ...included.map((resolved) => interestOf(resolved, namespace)),
    ...[...groups].map(interestInGroup),
  ]);
  const sources = uniqueSources(included, namespace, context.options.bindSecretData);
  const wanted = [...sources.values(), ...(groups.size === 0 ? [] : [{ kind: Definitions } as Source])];
  const views = ctx.dynamic.declare(wanted);
  const definitions = groups.size === 0 ? undefined : views.at(-1);
  const byKind = new Map([...sources.keys()].map((kind, i): [ServedKind, DynamicView] => [kind, views[i]!]));
  const viewOf = (kind: ServedKind) => byKind.get(sameKind([...sources.keys()], kind)!)!;
  return {
    views: new Map(included.map(({ kind }) => [kind, viewOf(kind)])),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/** Removes all watches of the Cleaner. */
export function watchNothing(ctx: ReconcileContext, context: Context): void {
  context.interests.set(ctx.key, []);
  ctx.dynamic.declare([]);
}

const sameKind = (kinds: readonly ServedKind[], { group, version, resource }: ServedKind) =>
  kinds.find((one) => one.group === group && one.version === version && one.resource === resource);

function uniqueSources(
  included: readonly Resolved[],
  namespace: string,
  bindSecretData: boolean,
): Map<ServedKind, Source> {
  const sources = new Map<ServedKind, Source>();
  for (const { kind } of included) {
    if (sameKind([...sources.keys()], kind) !== undefined) continue;
    const projection = isSecret(kind) ? { projection: projectionOf(kind, bindSecretData) } : {};
    sources.set(kind, { kind, namespace, ...projection });
  }
  return sources;
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
