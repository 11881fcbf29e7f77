// Reconciles one request: does nothing, waits, or deletes it.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, minutes, plus } from '@lapse/base/instant';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { RequestObject } from '#api/storage/request';
import { type Decision, outcomeOf } from '#deletion/deletion';
import type { Expirer } from '#deletion/expirer';
import { observeDeletion } from '#requests/ownDeletion';
import type { RequestRules } from '#requests/rules';
import { computeScannedExpiry, type RequestExpiry } from '#requests/ttl';

/** The maximum interval between evaluations, regardless of the deadline. */
const MAX_INTERVAL = minutes(5);

export async function reconcileTtl<T extends RequestObject>(
  ctx: ReconcileContext,
  rules: RequestRules<T>,
  expirer: Expirer<unknown>,
): Promise<Outcome> {
  const request = ctx.cache.get(rules.kind, ctx.key);
  const observed = observeDeletion(ctx, rules.kind, request, expirer);
  if (observed !== undefined || request === undefined) return observed ?? settled();
  const decide = (live: T, now: Instant): Decision<RequestExpiry> => {
    const expiry = computeScannedExpiry(live, rules, now);
    return expiry.kind === 'expired'
      ? { kind: 'delete', since: expiry.since }
      : { kind: 'keep', because: expiry };
  };
  const decision = decide(request, ctx.now);
  if (decision.kind === 'keep') return kept(decision.because, ctx.now);
  const { since } = decision;
  const deletion = await expirer.expire(ctx, { kind: rules.kind, object: request, since, decide });
  return outcomeOf(deletion, (because) => kept(because, ctx.now));
}

function kept(expiry: RequestExpiry, now: Instant): Outcome {
  switch (expiry.kind) {
    case 'none':
    case 'invalid':
    case 'expired':
      return settled();
    case 'waiting': {
      const next = plus(now, MAX_INTERVAL);
      return expiry.until <= next ? waitUntil(expiry.until, 'request ttl') : waitUntil(next, 'safety check');
    }
    default:
      return assertNever(expiry);
  }
}
