// Plans an undo with the rights of the user: what exists, what the API server would refuse. Writes nothing.

import { type Kind, keyOf } from '@lapse/kube/api/kind';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { type Change, diffObjects } from '#checkpoint/restore/diff';
import { inParallel } from '#checkpoint/restore/inParallel';
import { typeOf } from '#checkpoint/restore/strip';
import type { Prepared } from './prepare.ts';

export type UndoClient = Pick<Client, 'get' | 'create' | 'update' | 'discovery'>;

interface About extends Prepared {
  readonly served: Kind;
}

interface Existing extends About {
  readonly live: KubeObject;
  readonly changes: readonly Change[];
  /** The object was saved, but not deleted. */
  readonly isSame: boolean;
}

export type UndoStep =
  | (About & { readonly kind: 'create' })
  | (Existing & { readonly kind: 'exists' })
  /** Only with `force`. */
  | (Existing & { readonly kind: 'replace' })
  | (Prepared & { readonly kind: 'skip' | 'refused'; readonly because: string });

export interface UndoOptions {
  /** Replace objects that exist. */
  readonly force?: boolean;
}

/** Maximum number of parallel requests. */
const WIDTH = 8;
/** The field manager of restored objects. */
export const MANAGER = 'lapse-undo';

export const planUndo = (
  client: UndoClient,
  prepared: readonly Prepared[],
  options: UndoOptions,
): Promise<UndoStep[]> => {
  const namespaces = new Set(
    prepared
      .filter(({ object, skip }) => skip === undefined && typeOf(object) === '/Namespace')
      .map(({ object }) => object.metadata.name),
  );
  return inParallel(prepared, WIDTH, (one) => planOne(client, one, { ...options, namespaces }));
};

async function planOne(
  client: UndoClient,
  one: Prepared,
  options: UndoOptions & { readonly namespaces: ReadonlySet<string | undefined> },
): Promise<UndoStep> {
  if (one.skip !== undefined) return { ...one, kind: 'skip', because: one.skip };
  const { object } = one;
  const refused = (because: string): UndoStep => ({ ...one, kind: 'refused', because });
  const { group, version } = parseApiVersion(object.apiVersion) ?? { group: '', version: '' };
  const served = (await client.discovery.find({ group, version, kind: object.kind })) ?? undefined;
  if (served === undefined)
    return refused(
      `${object.apiVersion} ${object.kind} is not served; install its CustomResourceDefinition first`,
    );
  try {
    const live = await client.get(served as Kind, keyOf(object));
    if (live !== undefined) return planExisting({ ...one, served }, live, options);
    // A namespace that is restored first does not exist yet.
    if (options.namespaces.has(object.metadata.namespace)) return { ...one, served, kind: 'create' };
    const answer = await client.create(served as Kind, object, { dryRun: true, fieldManager: MANAGER });
    return answer.kind === 'created' ? { ...one, served, kind: 'create' } : refused(answer.error.message);
  } catch (error) {
    if (error instanceof ApiError) return refused(error.message);
    throw error;
  }
}

function planExisting(about: About, live: KubeObject, { force }: UndoOptions): UndoStep {
  const { record, object } = about;
  const isSame = live.metadata.uid === record.object.metadata.uid;
  if (live.metadata.deletionTimestamp !== undefined)
    return { ...about, kind: 'refused', because: 'it is being deleted; try again when it is gone' };
  const changes = diffObjects(live, object);
  return { ...about, kind: force === true ? 'replace' : 'exists', live, changes, isSame };
}
