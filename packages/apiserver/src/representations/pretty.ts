// JSON for human eyes: indented for those who ask for it, and for the clients people use by hand.

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

/** Documents that are made anew for each request; what carries an ETag, streams and other types stay as they are. */
export function prettified(request: HttpRequest, response: HttpResponse): HttpResponse {
  const { body, headers } = response;
  const isDocument = headers['content-type'] === 'application/json' && headers['etag'] === undefined;
  if (!isDocument || !(body instanceof Uint8Array) || body.length === 0) return response;
  if (!isPrettyWanted(request)) return response;
  const value: unknown = JSON.parse(Buffer.from(body).toString(), exactNumbers);
  return { ...response, body: Buffer.from(JSON.stringify(value, null, 2)) };
}

// Numbers keep their digits: an int64 beyond 2^53 would not survive being a number.
const exactNumbers = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value;
