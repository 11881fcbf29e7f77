// The first step of every request controller: it handles requests that have ended. In mode scanner it adds a TTL
// annotation that a crash left out. In mode annotation it deletes expired requests.

import { assertNever } from '@lapse/base/assertNever';
import type { Random } from '@lapse/base/random';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { RequestObject } from '#api/storage/request';
import { type Decision, outcomeOf } from '#deletion/deletion';
import type { Expirer } from '#deletion/expirer';
import { markInvalidTtl, setTTLAnnotation } from './finish.ts';
import { observeDeletion } from './ownDeletion.ts';
import type { RequestRules } from './rules.ts';
import { hasEnded } from './terminal.ts';
import { computeRecheck, computeRequestTtl, type RequestExpiry } from './ttl.ts';

export interface EndedOptions<T extends RequestObject> {
  readonly rules: RequestRules<T>;
  readonly random: Random;
  readonly expirer: Expirer<unknown>;
}

/** The outcome for a request that has ended, is being deleted or is gone; undefined if the controller has to process it. */
export async function reconcileEnded<T extends RequestObject>(
  ctx: ReconcileContext,
  request: T | undefined,
  options: EndedOptions<T>,
): Promise<Outcome | undefined> {
  const { rules, expirer } = options;
  const observed = observeDeletion(ctx, rules.kind, request, expirer);
  if (observed !== undefined || request === undefined) return observed ?? settled();
  if (!hasEnded(request)) return undefined;
  if (rules.ttl.mode === 'annotation') return reconcileTtl(ctx, request, options);
  if (request.metadata.annotations?.[rules.annotationKey] !== undefined) return settled();
  return setTTLAnnotation(ctx, rules, request);
}

/** The annotation decides. The controller writes it before the end; if it is missing, a user removed it: keep. */
async function reconcileTtl<T extends RequestObject>(
  ctx: ReconcileContext,
  request: T,
  { rules, random, expirer }: EndedOptions<T>,
): Promise<Outcome> {
  const expiry = computeRequestTtl(request, rules, ctx.now);
  const recheck = (kept: RequestExpiry): Outcome =>
    kept.kind === 'waiting'
      ? waitUntil(computeRecheck(kept.until, ctx.now, random.next()), 'request ttl')
      : settled();
  switch (expiry.kind) {
    case 'none':
      return settled();
    case 'invalid':
      return markInvalidTtl(ctx, rules, request, expiry.message);
    case 'waiting':
      return recheck(expiry);
    case 'expired': {
      const decide = (live: T, now: typeof ctx.now): Decision<RequestExpiry> => {
        const current = computeRequestTtl(live, rules, now);
        return current.kind === 'expired'
          ? { kind: 'delete', since: current.since }
          : { kind: 'keep', because: current };
      };
      const { kind } = rules;
      return outcomeOf(
        await expirer.expire(ctx, { kind, object: request, since: expiry.since, decide }),
        recheck,
      );
    }
    default:
      return assertNever(expiry);
  }
}
