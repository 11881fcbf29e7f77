// Caches credentials that are loaded again on expiry: token files and exec plugins. Concurrent requests share one load.

import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, type Millis, seconds } from '@lapse/base/instant';
import type { Auth, Credentials } from './credentials.ts';

export interface Loaded {
  readonly auth: Auth;
  /** By the wall clock; reloaded from then on. Default: they last until the server rejects them. */
  readonly expiresAt?: Instant;
}

export interface RenewingOptions {
  readonly clock: Clock;
  readonly load: () => Promise<Loaded>;
  /** Reload after this long even if nothing expired. */
  readonly every?: Millis;
  /** If a load fails, keep using the present credentials while they have not expired. */
  readonly keepOnFailure?: boolean;
}

/** A server that rejects everything must not cause continuous loads. */
const MIN_INTERVAL: Millis = seconds(5);

const sameAuth = (a: Auth, b: Auth): boolean =>
  a.cert === b.cert && a.key === b.key && JSON.stringify(a.headers) === JSON.stringify(b.headers);

export function renewing(options: RenewingOptions): Credentials {
  const { clock, load, every, keepOnFailure = false } = options;
  let held: Loaded | undefined;
  let loadedAt = 0;
  let loading: Promise<Auth> | undefined;

  const expired = () => held?.expiresAt !== undefined && isDue(held.expiresAt, clock.now());
  const stale = () => expired() || (every !== undefined && clock.elapsed() - loadedAt >= every);

  async function renew(): Promise<Auth> {
    try {
      const fresh = await load();
      // Unchanged content stays the same object, so that callers can compare identities.
      held = held !== undefined && sameAuth(held.auth, fresh.auth) ? { ...fresh, auth: held.auth } : fresh;
    } catch (error) {
      if (!keepOnFailure || held === undefined || expired()) throw error;
    } finally {
      loadedAt = clock.elapsed();
      loading = undefined;
    }
    return held.auth;
  }
  const renewOnce = (): Promise<Auth> => {
    loading ??= renew();
    return loading;
  };

  return {
    current: () => (held === undefined || stale() ? renewOnce() : held.auth),
    async refused(used) {
      if (held !== undefined && held.auth !== used) return true;
      if (loading === undefined && clock.elapsed() - loadedAt < MIN_INTERVAL) return false;
      return (await renewOnce()) !== used;
    },
  };
}
