// Certificates and CA certificates from files. Changed files are reloaded, so that a rotation needs no restart. Invalid
// contents are reported, and the previous ones are kept.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Cancel, Clock } from '@lapse/base/clock';
import { type Millis, seconds } from '@lapse/base/instant';
import { wakeAfter } from '@lapse/base/monotonic';
import { asError } from '../outcome.ts';

export interface KeyPair {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Certificate {
  current(): KeyPair;
  /** Calls the listener with every later pair. Returns the unsubscribe function. */
  onChange(listener: (pair: KeyPair) => void): () => void;
}

interface Followed<T> {
  current(): T;
  onChange(listener: (next: T) => void): () => void;
  /** Reads the files now instead of at the next interval. */
  refresh(): Promise<void>;
  close(): void;
}

export type CertificateFiles = Followed<KeyPair>;

interface FollowOptions {
  readonly clock: Clock;
  /** How often the files are read; default: 10 s. */
  readonly interval?: Millis;
  /** Called if the files are invalid. The previous contents are kept. */
  readonly onProblem?: (error: Error) => void;
}

export interface CertificateOptions extends FollowOptions {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Throws if the pair is invalid. */
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
  // Sequential, so that the reported problem is deterministic.
  const cert = await readFile(options.certFile, 'utf8');
  const key = await readFile(options.keyFile, 'utf8');
  const pair = { cert, key };
  checkPair(pair, options);
  return pair;
}

/** Throws an error that names the file if there is no valid pair at the start. */
export const openCertificate = (options: CertificateOptions): Promise<CertificateFiles> =>
  follow(
    () => readPair(options),
    ({ cert, key }) => `${cert}\n${key}`,
    options,
  );

/** CA certificates, PEM. Throws an error that names the file if it is missing or invalid at the start. */
export const openAuthority = (file: string, options: FollowOptions): Promise<Followed<string>> =>
  follow(
    async () => {
      const pem = await readFile(file, 'utf8');
      attempt(`${file} is not a certificate`, () => new X509Certificate(pem));
      return pem;
    },
    (pem) => pem,
    options,
  );

async function follow<T>(
  read: () => Promise<T>,
  textOf: (value: T) => string,
  { clock, interval = seconds(10), onProblem }: FollowOptions,
): Promise<Followed<T>> {
  let current = await read();
  let cancel: Cancel | undefined;
  let closed = false;
  const listeners = new Set<(next: T) => void>();

  async function refresh(): Promise<void> {
    try {
      const next = await read();
      if (textOf(next) === textOf(current)) return;
      current = next;
      for (const listener of listeners) listener(next);
    } catch (error) {
      onProblem?.(asError(error));
    }
  }
  function arm(): void {
    if (!closed) cancel = wakeAfter(clock, interval, () => void refresh().then(arm));
  }
  arm();
  return {
    current: () => current,
    refresh,
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
