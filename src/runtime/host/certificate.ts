// A certificate from files, read again when they change: whoever rotates them does not restart us. A pair that does not
// fit together is not used; the old one stays.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Cancel, Clock } from '#base/clock';
import { type Millis, seconds } from '#base/instant';
import { wakeAfter } from '#base/monotonic';
import { asError } from '../outcome.ts';

export interface KeyPair {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Certificate {
  current(): KeyPair;
  /** Called with every later pair; gives the way to stop that. */
  onChange(listener: (pair: KeyPair) => void): () => void;
}

export interface CertificateFiles extends Certificate {
  /** Looks now instead of at the next interval. */
  look(): Promise<void>;
  close(): void;
}

export interface CertificateOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clock: Clock;
  /** How often to look; 10 s unless told. */
  readonly interval?: Millis;
  /** The files cannot be used; the pair before stays. */
  readonly onProblem?: (error: Error) => void;
}

/** Throws when the pair cannot be used. */
function checkPair({ cert, key }: KeyPair, { certFile, keyFile }: CertificateOptions): void {
  const parsed = attempt(`${certFile} is not a certificate`, () => new X509Certificate(cert));
  const privateKey = attempt(`${keyFile} is not a private key`, () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(privateKey)) throw new Error(`${keyFile} does not belong to ${certFile}`);
}

function attempt<R>(what: string, parse: () => R): R {
  try {
    return parse();
  } catch (cause) {
    throw new Error(`${what}: ${asError(cause).message}`, { cause });
  }
}

async function readPair(options: CertificateOptions): Promise<KeyPair> {
  // One after the other, so that the first problem is always the same one.
  const cert = await readFile(options.certFile, 'utf8');
  const key = await readFile(options.keyFile, 'utf8');
  const pair = { cert, key };
  checkPair(pair, options);
  return pair;
}

/** Throws, naming the file, when there is no usable pair to begin with. */
export async function openCertificate(options: CertificateOptions): Promise<CertificateFiles> {
  const { clock, interval = seconds(10), onProblem } = options;
  let pair = await readPair(options);
  let cancel: Cancel | undefined;
  let closed = false;
  const listeners = new Set<(pair: KeyPair) => void>();

  async function look(): Promise<void> {
    try {
      const next = await readPair(options);
      if (next.cert === pair.cert && next.key === pair.key) return;
      pair = next;
      for (const listener of listeners) listener(next);
    } catch (error) {
      onProblem?.(asError(error));
    }
  }
  function arm(): void {
    if (!closed) cancel = wakeAfter(clock, interval, () => void look().then(arm));
  }
  arm();
  return {
    current: () => pair,
    look,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      cancel?.();
    },
  };
}
