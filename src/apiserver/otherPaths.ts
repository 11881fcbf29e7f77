// Paths outside the API groups: version and health.

import type { HttpRequest, HttpResponse } from '#api/http';
import type { Core } from './context.ts';
import { servedData } from './data.ts';
import { jsonResponse, textResponse } from './respond.ts';

const HEALTH = /^\/(healthz|livez|readyz)(\/.*)?$/;

export async function otherPath(
  _core: Core,
  path: string,
  _query: URLSearchParams,
  _request: HttpRequest,
): Promise<HttpResponse> {
  if (HEALTH.test(path)) return textResponse(200, 'ok');
  if (path === '/version') return jsonResponse(200, servedData().version);
  return textResponse(404, '404 page not found\n');
}
