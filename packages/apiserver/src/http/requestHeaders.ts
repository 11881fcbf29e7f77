// Parses the headers of a request; headers that may be repeated keep separate values.

import { headerText } from '@lapse/kube/api/headerText';
import type { RequestHeaders } from '@lapse/kube/api/http';

type Single = keyof { [Name in keyof RequestHeaders as string extends Name ? never : Name]: true };

const SINGLE: Readonly<Record<Single, true>> = {
  accept: true,
  'accept-encoding': true,
  'audit-id': true,
  authorization: true,
  'content-type': true,
  host: true,
  'if-none-match': true,
  'impersonate-uid': true,
  'impersonate-user': true,
  'user-agent': true,
};

/** `raw`: alternating names and values, as sent. */
export function parseHeaders(raw: readonly string[]): RequestHeaders {
  // No prototype: a header may have any name.
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    const value = headerText(raw[i + 1]!);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (Object.hasOwn(SINGLE, name)) continue;
    else if (typeof before === 'string') headers[name] = [before, value];
    else before.push(value);
  }
  return headers;
}
