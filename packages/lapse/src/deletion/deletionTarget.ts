// An object that was decided to be deleted, and how.

import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { Propagation } from '@lapse/kube/client/delete';
import type { Pass } from '@lapse/runtime/pass';
import type { Budget } from './budget.ts';

export type Decision<Verdict> =
  | { readonly kind: 'delete'; readonly since: Instant }
  | { readonly kind: 'keep'; readonly verdict: Verdict };

export interface DeletionTarget<T extends KubeObject, Verdict> {
  readonly kind: Kind<T>;
  /** The object the decision was made on, with its uid and version. */
  readonly object: T;
  /** Its deadline. */
  readonly since: Instant;
  /** The same decision about a later state of the object. Pure. */
  readonly decide: (live: T, now: Instant) => Decision<Verdict>;
  readonly propagation?: Propagation;
  readonly gracePeriodSeconds?: number;
  /** Dry run, also without it when the whole process runs dry. */
  readonly dryRun?: boolean;
  /** A budget of its own (a policy's), before that of the controller. */
  readonly budget?: Budget;
  /** Whose rights to use; default: the client of the pass. */
  readonly client?: Client;
  /** Whether the cache still has the object. Default: by the key of the pass, for objects of its own kind. */
  readonly isThere?: () => boolean;
}

export const isDry = (pass: Pass, target: { readonly dryRun?: boolean }): boolean =>
  pass.dryRun || target.dryRun === true;

export const uidOf = (object: KubeObject): string => object.metadata.uid ?? '';

export const dryKey = ({ object, since }: { object: KubeObject; since: Instant }): string =>
  `${uidOf(object)}@${since}`;

/** Whether the cache still has the object; undefined where the pass cannot know. */
export function presenceOf<T extends KubeObject, V>(
  { cache, key }: Pass,
  { kind, object, isThere }: DeletionTarget<T, V>,
): (() => boolean) | undefined {
  if (isThere !== undefined) return isThere;
  const { name, namespace } = keyOf(object);
  if (name !== key.name || namespace !== key.namespace) return undefined;
  const uid = uidOf(object);
  return () => cache.get(kind, key)?.metadata.uid === uid;
}
