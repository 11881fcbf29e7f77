// A bearer token in a file that somebody else rewrites: a projected service account token, or a kubeconfig's tokenFile.

import { readFile } from 'node:fs/promises';
import type { Clock } from '@lapse/base/clock';
import { minutes } from '@lapse/base/instant';
import { bearer, type Credentials } from './credentials.ts';
import { renewing } from './renewing.ts';
import { TransportError } from './transport.ts';

/** Kubernetes rewrites a projected token at four fifths of its life, which is an hour or more. */
const REREAD_EVERY = minutes(1);

export interface TokenFileOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Used as long as the file cannot be read. */
  readonly fallback?: string;
  /** What to call the field in errors: `user "admin" in config: tokenFile`. */
  readonly field: string;
}

/** Re-read at most each minute, and when the server refuses the token. A file that is briefly gone changes nothing. */
export function tokenFile({ path, clock, fallback, field }: TokenFileOptions): Credentials {
  const fail = (problem: string, cause?: unknown) =>
    new TransportError('credentials', `${field}: ${problem}`, { sent: false, cause });
  async function load() {
    try {
      const token = (await readFile(path, 'utf8')).trim();
      if (token === '') throw fail(`${path} is empty`);
      if (/[^\x21-\x7e]/.test(token)) throw fail(`${path} does not hold a token`);
      return { auth: { headers: bearer(token) } };
    } catch (error) {
      if (fallback !== undefined) return { auth: { headers: bearer(fallback) } };
      throw error instanceof TransportError ? error : fail(`cannot read ${path}: ${String(error)}`, error);
    }
  }
  return renewing({ clock, load, every: REREAD_EVERY, keepOnFailure: true });
}
