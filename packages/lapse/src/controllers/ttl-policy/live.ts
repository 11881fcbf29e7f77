// Reads the live object by a list of one: every policy is reviewed for the permission to list, but not to get.

import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';

export async function readLive<T extends KubeObject>(
  client: Pick<Client, 'list'>,
  kind: Kind<T>,
  { namespace, name }: ObjectKey,
): Promise<T | undefined> {
  const fieldSelector = `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`;
  const { items } = await client.list(kind, {
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    fieldSelector,
    limit: 0,
  });
  return items.find(({ metadata }) => metadata.name === name);
}
