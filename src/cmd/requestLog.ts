// One JSON line per request: what was asked, in which encoding, and what was answered. For tests and for the curious.

import { createWriteStream } from 'node:fs';
import type { HttpHandler } from '#api/http';

export function requestLog(file: string): (handle: HttpHandler) => HttpHandler {
  const out = createWriteStream(file, { flags: 'a', mode: 0o600 });
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
