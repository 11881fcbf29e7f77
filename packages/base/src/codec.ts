// Compression, base64 and hashes, so that no other package imports `node:zlib` or `node:crypto`. Compressed input is
// untrusted: every size is bounded before memory is allocated.

import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';

export type Unpacked =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** The content is larger than the limit. */
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'corrupt'; readonly why: string };

/** Deterministic gzip: equal input gives equal output. */
export const gzip = (bytes: Uint8Array, level = 9): Uint8Array => gzipSync(bytes, { level });

export const isGzip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 0x08;

/**
 * Unpacks at most `most` bytes. Synchronous, so that simulations are reproducible. It processes a few hundred MiB per
 * second; `most` therefore bounds how long it blocks.
 */
export function unpackGzip(bytes: Uint8Array, most: number): Unpacked {
  if (!isGzip(bytes)) return { kind: 'corrupt', why: 'not gzip' };
  try {
    const chunkSize = Math.max(SMALLEST_CHUNK, Math.min(claimedLength(bytes), most) + 1);
    return { kind: 'bytes', bytes: gunzipSync(bytes, { maxOutputLength: most, chunkSize }) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ERR_BUFFER_TOO_LARGE' ? { kind: 'tooLarge' } : { kind: 'corrupt', why: message };
  }
}

const SMALLEST_CHUNK = 16 * 1024;

/**
 * The length in the last four bytes of gzip data. It is untrusted; it only sizes the buffer, to unpack in one piece
 * without a copy.
 */
const claimedLength = (bytes: Uint8Array): number =>
  bytes.length < 18 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes standard base64 with padding. Line breaks are allowed; any other character makes the result undefined. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const plain = text.replace(/[\r\n]/g, '');
  return plain.length % 4 === 0 && BASE64.test(plain) ? Buffer.from(plain, 'base64') : undefined;
}

export const encodeBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

export const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
export const fromUtf8 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

/** The hash in hexadecimal. */
export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');
