// Collects the objects that conditions read, from the caches where they are watched, and determines whether
// evaluation is possible yet.

import type { Discovery } from '@lapse/kube/client/discovery';
import type { DynamicView, ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Cleaner } from '#api/cleaner';
import { type AuthorizedClient, describeError } from '#authors/authorizedClient';
import type { Context } from './context.ts';
import { boundCount, type Found, fingerprint, MOST_BOUND, type Resolved } from './snapshot.ts';
import { isDecisive, type Meaning, type Target } from './spec.ts';
import {
  fromCache,
  fromServer,
  isFresh,
  isNewsOfDefinitions,
  type Kinds,
  resolveKinds,
  watch,
} from './targets.ts';

export interface Gathered {
  /** Unchanged as long as none of the objects read changes. */
  readonly key: string;
  readonly resolved: readonly Resolved[];
  /** Included targets only. */
  readonly found: readonly Found[];
  /** All objects are watched, so every change triggers a reconcile. */
  readonly watched: boolean;
  /** Set if a target could not be read. */
  readonly forbidden?: string;
}

export type Gathering =
  | { readonly kind: 'refused'; readonly why: string }
  /** `soon`: the CRD was created a moment ago. */
  | { readonly kind: 'unserved'; readonly why: string; readonly key: string; readonly soon: boolean }
  /** Evaluation must wait until the API server answers. `why`: the cause of the delay, if known. */
  | { readonly kind: 'unsynced'; readonly why?: string }
  | {
      readonly kind: 'gathered';
      readonly key: string;
      /** Reads the objects that cannot be watched. */
      complete(client: AuthorizedClient): Promise<Gathered>;
    };

export async function gather(
  ctx: ReconcileContext,
  context: Context,
  cleaner: Cleaner,
  meaning: Meaning,
): Promise<Gathering> {
  const { discovery } = context.client;
  let kinds = await resolveKinds(discovery, meaning.targets);
  let watching = watch(ctx, context, cleaner, kinds);
  if (isNewsOfDefinitions(context, watching, kinds, ctx.now)) {
    discovery.invalidate();
    kinds = await resolveKinds(discovery, meaning.targets);
    watching = watch(ctx, context, cleaner, kinds);
  }
  const generation = cleaner.metadata.generation ?? 1;
  const [refused] = kinds.refused.filter(({ target }) => isDecisive(target));
  if (refused !== undefined) return { kind: 'refused', why: `target ${refused.target.name}: ${refused.why}` };
  const unavailable = await unavailableGroup(discovery, kinds);
  if (unavailable !== undefined) return { kind: 'unsynced', why: unavailable };
  const unserved = [
    ...kinds.unserved.filter((target) => target.included),
    ...goneKinds(kinds, watching.views),
  ];
  if (unserved.length > 0) return describeUnserved(unserved, generation, isFresh(context, unserved, ctx.now));
  const included = kinds.resolved.filter(({ target }) => target.included);
  const views = included.map((resolved) => ({ resolved, view: watching.views.get(resolved.kind)! }));
  const unsynced = views.filter(({ view }) => !isForbidden(view) && !view.status.synced);
  if (unsynced.length > 0) return describeUnsynced(unsynced);
  return gatherFrom(views, { ctx, context, generation, resolved: kinds.resolved });
}

/** A kind that is not found may exist if discovery of its group is stale or failed. */
async function unavailableGroup(discovery: Discovery, { unserved }: Kinds): Promise<string | undefined> {
  for (const { name, reference } of unserved.filter(isDecisive)) {
    const { apiGroup: group = '', kind } = reference;
    if (await discovery.isUnavailable(group))
      return `target ${name}: API group ${group} is unavailable, so it is unknown whether ${kind} is served; check its APIService`;
  }
  return undefined;
}

function describeUnsynced(
  views: readonly { readonly resolved: Resolved; readonly view: DynamicView }[],
): Gathering {
  const failing = views.find(({ view }) => view.status.problem !== undefined);
  if (failing === undefined) return { kind: 'unsynced' };
  const { resolved, view } = failing;
  const { group, resource } = resolved.kind;
  const what = group === '' ? resource : `${resource}.${group}`;
  return { kind: 'unsynced', why: `${what} cannot be listed: ${describeError(view.status.problem!.error)}` };
}

const isForbidden = ({ status }: DynamicView): boolean => status.problem?.kind === 'forbidden';

/** Discovery may still list kinds that the watch reports as removed. */
function goneKinds(kinds: Kinds, views: ReadonlyMap<unknown, DynamicView>): Target[] {
  return kinds.resolved
    .filter(({ target, kind }) => target.included && views.get(kind)?.status.problem?.kind === 'notServed')
    .map(({ target }) => target);
}

function describeUnserved(targets: readonly Target[], generation: number, soon: boolean): Gathering {
  const names = targets.map(
    ({ name, reference }) => `${reference.kind}.${reference.apiGroup ?? ''} (${name})`,
  );
  return {
    kind: 'unserved',
    why: `the server does not serve ${names.join(', ')}`,
    key: `unserved;${generation};${names.join()};${soon}`,
    soon,
  };
}

interface Looking {
  readonly ctx: ReconcileContext;
  readonly context: Context;
  readonly generation: number;
  readonly resolved: readonly Resolved[];
}

function gatherFrom(
  views: readonly { readonly resolved: Resolved; readonly view: DynamicView }[],
  { ctx, context, generation, resolved }: Looking,
): Gathering {
  const namespace = ctx.key.namespace ?? '';
  const cached: Found[] = [];
  for (const { resolved: one, view } of views.filter((each) => !isForbidden(each.view)))
    cached.push(fromCache(one, view, namespace, Math.max(0, MOST_BOUND - boundCount(cached))));
  const unwatched = views.filter(({ view }) => isForbidden(view)).map(({ resolved: one }) => one);
  const key = `${fingerprint(generation, cached)};${unwatched.length}`;
  const watched = unwatched.length === 0;
  return {
    kind: 'gathered',
    key,
    async complete(client) {
      const found = [...cached];
      for (const one of unwatched) {
        const read = await fromServer(client, one, namespace, context.options.bindSecretData);
        if (read.kind === 'read') found.push(read.value);
        else {
          const forbidden = read.kind === 'forbidden' ? read.why : `${one.kind.kind} is not served`;
          return { key, resolved, found, watched, forbidden };
        }
      }
      return { key, resolved, found, watched };
    },
  };
}
