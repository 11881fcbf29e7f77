// The first step of every request controller: it handles requests that have ended. In mode scanner it adds a TTL
// annotation that a crash left out. In mode annotation it deletes expired requests.

import { assertNever } from '@lapse/base/assertNever';
import type { Random } from '@lapse/base/random';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { RequestObject } from '#api/storage/request';
import { outcomeOf } from '#deletion/deletion';
import type { Decision, GuardedDeletes } from '#deletion/guardedDelete';
import { markInvalidTtl, setTTLAnnotation } from './finish.ts';
import type { RequestRules } from './rules.ts';
import { hasEnded } from './terminal.ts';
import { computeRecheck, computeRequestTtl, type RequestExpiry } from './ttl.ts';

export interface EndedOptions<T extends RequestObject> {
  readonly rules: RequestRules<T>;
  readonly random: Random;
  readonly deletes: GuardedDeletes;
}

/** The outcome for a request that has ended or is being deleted; undefined if the controller has to process it. */
export async function reconcileEnded<T extends RequestObject>(
  ctx: ReconcileContext,
  request: T,
  options: EndedOptions<T>,
): Promise<Outcome | undefined> {
  const { rules } = options;
  const ended = hasEnded(request);
  if (request.metadata.deletionTimestamp !== undefined) return settled();
  if (!ended) return undefined;
  if (rules.ttl.mode === 'annotation') return reconcileTtl(ctx, request, options);
  if (request.metadata.annotations?.[rules.annotationKey] !== undefined) return settled();
  return setTTLAnnotation(ctx, rules, request);
}

/** The annotation decides. The controller writes it before the end; if it is missing, a user removed it: keep. */
async function reconcileTtl<T extends RequestObject>(
  ctx: ReconcileContext,
  request: T,
  { rules, random, deletes }: EndedOptions<T>,
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
        const verdict = computeRequestTtl(live, rules, now);
        return verdict.kind === 'expired'
          ? { kind: 'delete', since: verdict.since }
          : { kind: 'keep', verdict };
      };
      const { kind } = rules;
      return outcomeOf(
        await deletes.delete(ctx, { kind, object: request, since: expiry.since, decide }),
        recheck,
      );
    }
    default:
      return assertNever(expiry);
  }
}
