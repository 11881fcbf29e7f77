// Finds a checkpoint by name.

import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { UsageError } from '#manager/usage';

/** The message where the CRDs are not installed. */
export const NO_KIND =
  'this cluster has no manifest checkpoints; "lapse crds --apply --controllers=manifest-capture" brings their definitions';

/** Throws an error that says how to list the names. */
export async function findCheckpoint(client: Pick<Client, 'get'>, name: string): Promise<ManifestCheckpoint> {
  if (!/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(name))
    throw new UsageError(`"${name}" is not the name of a checkpoint; "lapse checkpoint ls" lists them`);
  const found = await client.get(ManifestCheckpoint, { name }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 404) throw new UsageError(NO_KIND);
    throw error;
  });
  if (found === undefined)
    throw new UsageError(`there is no checkpoint ${name}; "lapse checkpoint ls" lists them`);
  return found;
}
