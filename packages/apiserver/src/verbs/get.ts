// GET of one object.

import { notFound } from '@lapse/kube/api/errors';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { Call } from '../context.ts';
import { storedResponse } from '../http/respond.ts';
import { getRevision, tooLarge } from '../list/revision.ts';
import { keyOf } from '../resources/resource.ts';

export async function get(call: Call): Promise<HttpResponse> {
  const wanted = getRevision(call.query.get('resourceVersion') ?? '');
  if (wanted > call.core.store.revision) throw tooLarge(wanted, call.core.store.revision);
  const stored = call.core.store.get(call.resource.storage, keyOf(call.namespace, call.name!));
  if (!stored) throw notFound(call.resource, call.name!);
  return storedResponse(call, 200, stored);
}
