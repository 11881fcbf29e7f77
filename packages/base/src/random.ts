// Injectable random source: the same seed gives the same names, UIDs and jitter.

import { randomBytes } from 'node:crypto';

export interface Random {
  /** A float in [0, 1). */
  next(): number;
  /** Returns `n` random bytes. */
  bytes(n: number): Uint8Array;
}

// A call into the kernel's generator costs more than a thousand of its bytes, so bytes are drawn in blocks. Each byte
// is used once.
const BLOCK = 4096;
let block = Buffer.alloc(0);
let used = 0;

function draw(n: number): Uint8Array {
  if (n > BLOCK) return randomBytes(n);
  if (used + n > block.length) {
    block = randomBytes(BLOCK);
    used = 0;
  }
  used += n;
  return block.subarray(used - n, used);
}

/** Cryptographic randomness, for servers that accept external clients. */
export const systemRandom: Random = {
  next: () => {
    const [a, b, c, d] = draw(4) as unknown as [number, number, number, number];
    return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
  },
  bytes: draw,
};

/** Reproducible randomness (mulberry32), for tests and simulations. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, bytes: (n) => Uint8Array.from({ length: n }, () => Math.floor(next() * 256)) };
}

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const b = random.bytes(16);
  b[6] = (b[6]! & 0x0f) | 0x40;
  b[8] = (b[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(b).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

// The alphabet of Kubernetes name suffixes: without vowels and look-alikes, so that no suffix spells a word.
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The five characters that generateName appends. */
export function nameSuffix(random: Random): string {
  let out = '';
  for (let i = 0; i < 5; i++) out += SUFFIX_ALPHABET[Math.floor(random.next() * SUFFIX_ALPHABET.length)];
  return out;
}
