// Answers of the real server to the bad requests, as recorded by record.ts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type Json } from '@lapse/kube/api/json';
import type { WireResponse } from '../replay/types.ts';

export interface Recorded {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
}

export const RESPONSES_FILE = join(import.meta.dirname, '..', 'fixtures', 'badInput.json');

export const loadResponses = (): Record<string, Recorded> =>
  JSON.parse(readFileSync(RESPONSES_FILE, 'utf8')) as Record<string, Recorded>;

/** Code, reason and message of a refusal; otherwise the code alone. */
export function normalise({ status, body }: WireResponse): Recorded {
  if (!isObject(body) || body.kind !== 'Status') return { code: status };
  return {
    code: status,
    ...(typeof body.reason === 'string' ? { reason: body.reason } : {}),
    ...(typeof body.message === 'string' ? { message: withoutVolatile(body.message) } : {}),
  };
}

/** Without uids, versions and times. Whole objects quoted in a message are removed. */
const withoutVolatile = (message: Json & string): string =>
  message
    .replace(/(Invalid value: )"\{\\"[\s\S]*\}": /, '$1"…": ')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
    .replace(/in scheme "[^"]*"/g, 'in scheme "…"');
