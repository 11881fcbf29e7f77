// A bearer token in a file that is rewritten externally: a projected service account token, or a kubeconfig's
// tokenFile.

import { readFile } from 'node:fs/promises';
import type { Clock } from '@lapse/base/clock';
import { minutes } from '@lapse/base/instant';
import { bearer, type Credentials } from './credentials.ts';
import { renewing } from './renewing.ts';
import { TransportError } from './transport.ts';

/** The kubelet rotates a projected token at 80% of its lifetime, which is an hour or more. */
const REREAD_EVERY = minutes(1);

export interface TokenFileOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Used while the file cannot be read. */
  readonly fallback?: string;
  /** Name of the field in errors: `user "admin" in config: tokenFile`. */
  readonly field: string;
}

/**
 * Re-read at most once per minute, and when the server rejects the token. A temporarily missing file changes nothing.
 */
export function tokenFile({ path, clock, fallback, field }: TokenFileOptions): Credentials {
  const fail = (problem: string, cause?: unknown) =>
    new TransportError('credentials', `${field}: ${problem}`, { sent: false, cause });
  async function load() {
    try {
      const token = (await readFile(path, 'utf8')).trim();
      if (token === '') throw fail(`${path} is empty`);
      if (/[^\x21-\x7e]/.test(token)) throw fail(`${path} does not contain a valid token`);
      return { auth: { headers: bearer(token) } };
    } catch (error) {
      if (fallback !== undefined) return { auth: { headers: bearer(fallback) } };
      throw error instanceof TransportError ? error : fail(`cannot read ${path}: ${String(error)}`, error);
    }
  }
  return renewing({ clock, load, every: REREAD_EVERY, keepOnFailure: true });
}
