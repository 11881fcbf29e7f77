// Plans a restore: applies every object as a server-side dry run and compares the result with the live object. Writes
// nothing.

import type { Kind } from '@lapse/kube/api/kind';
import { keyOf } from '@lapse/kube/api/kind';
import { Namespace } from '@lapse/kube/api/kinds/builtin';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { type Change, diffObjects } from './diff.ts';
import { inParallel } from './inParallel.ts';
import type { Prepared } from './prepare.ts';
import { typeOf } from './strip.ts';

export type RestoreClient = Pick<Client, 'get' | 'apply' | 'discovery'>;

export interface PlanOptions {
  /** The target namespace. */
  readonly namespace: string;
  /** Create the namespace if it exists neither in the cluster nor in the checkpoint. */
  readonly createNamespace?: boolean;
  /** Take over fields from other field managers. */
  readonly force?: boolean;
  /** Called after each object. */
  readonly onProgress?: (done: number, total: number) => void;
}

interface About {
  readonly what: string;
  readonly notes: readonly string[];
}
interface Applied extends About {
  readonly object: KubeObject;
  readonly served: Kind;
}

export type Step =
  /** `checked: false`: the namespace does not exist yet, so no dry run was possible. */
  | (Applied & { readonly kind: 'create'; readonly checked: boolean })
  | (Applied & { readonly kind: 'change'; readonly changes: readonly Change[]; readonly version: string })
  | (About & { readonly kind: 'unchanged' })
  | (About & { readonly kind: 'skip'; readonly because: string })
  | (About & { readonly kind: 'refused'; readonly because: string });

/** The restore cannot start; the message says what to do. */
export class RestoreError extends Error {}

/** Maximum number of parallel requests. */
const WIDTH = 8;
/** The field manager of restored fields. */
export const MANAGER = 'lapse-restore';

export async function planRestore(
  client: RestoreClient,
  prepared: readonly Prepared[],
  options: PlanOptions,
): Promise<Step[]> {
  const isThere = await isNamespaceThere(client, options.namespace);
  const all = isThere ? prepared : withNamespace(prepared, options);
  let done = 0;
  return inParallel(all, WIDTH, async (one) => {
    const step = await planOne(client, one, { ...options, isThere });
    options.onProgress?.(++done, all.length);
    return step;
  });
}

/** A user who may not read the Namespace may still be allowed to write into it: 403 counts as existing. */
async function isNamespaceThere(client: RestoreClient, name: string): Promise<boolean> {
  try {
    const found = await client.get(Namespace, { name });
    if (found?.metadata.deletionTimestamp !== undefined)
      throw new RestoreError(`namespace ${name} is being deleted; try again when it is gone`);
    return found !== undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return true;
    throw error;
  }
}

/** Puts the Namespace first: the captured one, or an empty one if requested. */
function withNamespace(prepared: readonly Prepared[], options: PlanOptions): readonly Prepared[] {
  const { namespace: name, createNamespace } = options;
  const comes = prepared.some(({ object, skip }) => skip === undefined && typeOf(object) === '/Namespace');
  if (comes) return prepared;
  if (createNamespace !== true)
    throw new RestoreError(
      `namespace ${name} does not exist and is not in the checkpoint; add --create-namespace`,
    );
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  return [{ what: `v1 Namespace ${name}`, object, notes: [] }, ...prepared];
}

async function planOne(
  client: RestoreClient,
  { what, object, skip, notes }: Prepared,
  options: PlanOptions & { readonly isThere: boolean },
): Promise<Step> {
  if (skip !== undefined) return { kind: 'skip', what, notes, because: skip };
  const refused = (because: string): Step => ({ kind: 'refused', what, notes, because });
  const { group, version } = parseApiVersion(object.apiVersion)!;
  const served = await client.discovery.find({ group, version, kind: object.kind });
  if (served === undefined)
    return refused(
      `${object.apiVersion} ${object.kind} is not served; install its CustomResourceDefinition first`,
    );
  if (!served.verbs.includes('patch')) return refused(`${served.resource} cannot be applied`);
  if (served.namespaced !== (object.metadata.namespace !== undefined))
    return refused(`${served.resource} are ${served.namespaced ? '' : 'not '}in namespaces here`);
  if (served.namespaced && !options.isThere)
    return { kind: 'create', what, notes, object, served, checked: false };
  try {
    return await compareWithLive(client, { what, notes, object, served }, options.force === true);
  } catch (error) {
    if (error instanceof ApiError) return refused(error.message);
    throw error;
  }
}

async function compareWithLive(client: RestoreClient, about: Applied, force: boolean): Promise<Step> {
  const { what, notes, object, served } = about;
  const live = await client.get(served, keyOf(object));
  if (live?.metadata.deletionTimestamp !== undefined)
    return { kind: 'refused', what, notes, because: 'it is being deleted; try again when it is gone' };
  const answer = await client.apply(served, object, { dryRun: true, fieldManager: MANAGER, force });
  if (answer.kind !== 'applied') {
    const isOwned = answer.kind === 'conflict' && answer.by === 'manager';
    const hint = isOwned ? '; --force-conflicts takes these fields over' : '';
    return { kind: 'refused', what, notes, because: `${answer.error.message}${hint}` };
  }
  if (live === undefined) return { ...about, kind: 'create', checked: true };
  const changes = diffObjects(live, answer.object);
  if (changes.length === 0) return { kind: 'unchanged', what, notes };
  return { ...about, kind: 'change', changes, version: live.metadata.resourceVersion ?? '' };
}
