// A request log with one JSON line per request: request, encoding and response. For tests and debugging.

import { createWriteStream, openSync } from 'node:fs';
import type { HttpHandler } from '@lapse/kube/api/http';
import { explained } from '#manager/usage';

/** Opens the file at once. Throws a UsageError if it cannot be written. */
export function requestLog(file: string): (handle: HttpHandler) => HttpHandler {
  const fd = explained(`--request-log ${file}`, () => openSync(file, 'a', 0o600));
  const out = createWriteStream(file, { fd });
  return (handle) => async (request) => {
    const response = await handle(request);
    const { method, path, headers } = request;
    const line = {
      method,
      path,
      contentType: headers['content-type'],
      accept: headers['accept'],
      userAgent: headers['user-agent'],
      bytes: request.body?.length ?? 0,
      status: response.status,
    };
    out.write(`${JSON.stringify(line)}\n`);
    return response;
  };
}
