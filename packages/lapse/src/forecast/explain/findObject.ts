// Reads the object to be explained, and reports clearly why it cannot be read.

import type { Kind } from '@lapse/kube/api/kind';
import { metadataOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { UsageError } from '#manager/usage';
import { fullName } from '../resolveKind.ts';

/** The API server denied access. The user may request the right. */
export class Refused extends Error {}

export async function findObject(
  client: Pick<Client, 'get' | 'list'>,
  kind: ServedKind,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<KubeObject> {
  const key = kind.namespaced ? { namespace, name } : { name };
  const which = `"${name}"${kind.namespaced ? ` in namespace ${namespace}` : ''}`;
  const object = await asked(`${fullName(kind)} ${which}`, () => client.get(kind as Kind, key));
  if (object !== undefined) return object;
  const elsewhere = kind.namespaced ? await namespacesWith(client, kind, name) : [];
  const hint = elsewhere.length === 0 ? '' : `; found in ${elsewhere.join(', ')}: add -n ${elsewhere[0]}`;
  throw new UsageError(`${kind.kind} ${which} not found${hint}`);
}

async function asked<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError && error.code === 403)
      throw new Refused(`may not read ${what}: ${error.message}`);
    throw error;
  }
}

const MOST_NAMESPACES = 5;

/** Other namespaces with an object of that name. Errors are ignored. */
async function namespacesWith(
  client: Pick<Client, 'list'>,
  kind: ServedKind,
  name: string,
): Promise<string[]> {
  try {
    const { items } = await client.list(metadataOf(kind as Kind), { fieldSelector: `metadata.name=${name}` });
    return items.flatMap(({ metadata }) => metadata.namespace ?? []).slice(0, MOST_NAMESPACES);
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
