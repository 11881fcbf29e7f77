// Signatures with a shared secret: HMAC-SHA-256, compared in constant time.

import { createHmac, timingSafeEqual } from 'node:crypto';

/** In base64. */
export const hmac = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text, 'utf8').digest('base64');

/** Whether `signature` is that of `text`; the time it takes does not tell how much of it is right. */
export function isHmacOf(key: Uint8Array, text: string, signature: string): boolean {
  const expected = Buffer.from(hmac(key, text));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
