// HMAC-SHA-256 signatures, compared in constant time.

import { createHmac, timingSafeEqual } from 'node:crypto';

/** The signature in base64. */
export const hmac = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text, 'utf8').digest('base64');

/** Whether `signature` is the signature of `text`. Takes constant time, so it does not leak how much of it matches. */
export function isHmacOf(key: Uint8Array, text: string, signature: string): boolean {
  const expected = Buffer.from(hmac(key, text));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
