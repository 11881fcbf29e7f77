// Indented JSON, on request and for interactive clients such as browsers and curl.

import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';

const BY_HAND = /^(curl|Wget|Mozilla\/5\.0)/;
const YES = /^(1|t|true)$/i;

export function isPrettyWanted({ path, headers }: HttpRequest): boolean {
  if (path.includes('pretty')) {
    const asked = new URLSearchParams(path.split('?')[1] ?? '').get('pretty');
    if (asked) return YES.test(asked);
  }
  return BY_HAND.test(headers['user-agent'] ?? '') || /;\s*pretty=1\b/.test(headers['accept'] ?? '');
}

/** Documents that are made per request; responses with an ETag, streams and other types are not changed. */
export function prettified(request: HttpRequest, response: HttpResponse): HttpResponse {
  const { body, headers } = response;
  const isDocument = headers['content-type'] === 'application/json' && headers['etag'] === undefined;
  if (!isDocument || !(body instanceof Uint8Array) || body.length === 0) return response;
  if (!isPrettyWanted(request)) return response;
  const value: unknown = JSON.parse(Buffer.from(body).toString(), exactNumbers);
  return { ...response, body: Buffer.from(JSON.stringify(value, null, 2)) };
}

// Keeps the digits of numbers: an int64 above 2^53 would lose precision.
const exactNumbers = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value;
