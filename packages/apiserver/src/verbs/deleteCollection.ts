// DELETE of all objects that match a selector. The response is the list before the deletion.

import type { HttpResponse } from '@lapse/kube/api/http';
import { ApiError } from '@lapse/kube/api/status';
import type { Call } from '../context.ts';
import { parseDeleteOptions } from '../decode/deleteOptions.ts';
import { parseListOptions } from '../http/query.ts';
import { selectPage } from '../list/page.ts';
import { deleteObject } from './delete.ts';
import { listResponse } from './list.ts';

export async function deleteCollection(call: Call): Promise<HttpResponse> {
  const options = parseDeleteOptions(call);
  call.warnings.push(...(call.resource.strategy.deleteWarnings?.(options) ?? []));
  const page = selectPage(call, { ...parseListOptions(call.query, false), watch: false });
  for (const stored of page.items) {
    const { namespace, name } = stored.object.metadata;
    try {
      await deleteObject(call, namespace, name!, options);
    } catch (cause) {
      // Another client already deleted the object.
      if (!(cause instanceof ApiError && cause.code === 404)) throw cause;
    }
  }
  return listResponse(call, page);
}
