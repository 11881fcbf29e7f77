// Forecasts the expiry of Jobs and Pods: the decision now, and at the time of the next evaluation.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { describeBasis, describeExpiry, describeTtl } from '#expiry/expiry';
import type { Finishable } from '#expiry/finishable';
import { describeTerminating, type ForecastContext, nameOf, REASONS, type Statement } from '../forecaster.ts';
import { decideExpiry, type ExpiryDecision } from './decide.ts';

export interface ForecastKind<T extends KubeObject> {
  readonly finishable: Finishable<T>;
  /** The field with the TTL: `spec.ttlSecondsAfterFinished`. */
  readonly rule: string;
  readonly gate: string;
  propagation(section: JsonObject): Propagation;
}

export async function* forecastFinished<T extends KubeObject>(
  forecastContext: ForecastContext,
  { finishable, rule, gate, propagation }: ForecastKind<T>,
  section: JsonObject,
): AsyncGenerator<Statement> {
  if (!forecastContext.isEnabled(gate)) return;
  const { kind, projection, fieldSelector } = finishable;
  const { namespace } = forecastContext;
  const source = {
    kind,
    projection,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  const propagationPolicy = propagation(section);
  for await (const page of forecastContext.snapshot.each(source))
    for (const object of page)
      yield statementAbout(object, finishable, { rule, propagationPolicy, forecastContext });
}

interface Context {
  readonly rule: string;
  readonly propagationPolicy: Propagation;
  readonly forecastContext: ForecastContext;
}

function statementAbout<T extends KubeObject>(
  object: T,
  finishable: Finishable<T>,
  { rule, propagationPolicy, forecastContext }: Context,
): Statement {
  const about = { object: nameOf(finishable.kind, object), rule };
  const end = forecast(finishable, object, forecastContext);
  switch (end.kind) {
    case 'deleted':
      return { kind: 'deleted', ...about, at: end.at, because: end.because, propagation: propagationPolicy };
    case 'exempt':
      return { kind: 'held', ...about, because: end.note };
    case 'notApplicable': {
      const reason = REASONS[end.because];
      if (end.because === 'being deleted')
        return {
          kind: finishable.ttl(object).kind === 'after' ? 'held' : 'kept',
          ...about,
          because: describeTerminating(object),
          reason,
        };
      return {
        kind: HELD_REASONS.has(end.because) ? 'held' : 'kept',
        ...about,
        because: describeExpiry(end),
        reason,
      };
    }
    default:
      return assertNever(end);
  }
}

/** Reasons that keep an object although the user set a TTL. */
const HELD_REASONS: ReadonlySet<string> = new Set(['invalid TTL', 'finish time unknown', 'opted out']);

type Forecast =
  | { readonly kind: 'deleted'; readonly at: Instant; readonly because: string }
  | Exclude<ExpiryDecision, { kind: 'waiting' | 'held' | 'expired' }>;

/** A finish time too far in the future is trusted later: the decision at that time counts. */
function forecast<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  { now, tolerance }: Pick<ForecastContext, 'now' | 'tolerance'>,
): Forecast {
  const decision = decideExpiry(finishable, object, { now, tolerance });
  switch (decision.kind) {
    case 'waiting':
    case 'expired': {
      const because =
        describeBasis(decision.because) + (finishable.needsFirstSight?.(object) ? MAY_BE_LATER : '');
      return { kind: 'deleted', at: decision.kind === 'waiting' ? decision.until : decision.since, because };
    }
    case 'notApplicable':
      return decision.because === 'finish time unknown'
        ? forecastFromFirstSight(finishable, object, decision, { now, tolerance })
        : decision;
    case 'held':
      return forecast(finishable, object, { now: decision.until, tolerance });
    case 'exempt':
      return decision;
    default:
      return assertNever(decision);
  }
}

/** Only the controller knows when it saw that the object finished. */
const MAY_BE_LATER = '; later if the controller saw it finish after that';

/**
 * For kinds that fall back to the first sight: without a finish time, the TTL counts from when the controller first saw
 * the object finished. The forecast does not know that time, but it is not later than now.
 */
function forecastFromFirstSight<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  unknown: Extract<Forecast, { kind: 'notApplicable' }>,
  moment: Pick<ForecastContext, 'now' | 'tolerance'>,
): Forecast {
  const decision = decideExpiry(finishable, object, {
    ...moment,
    sight: { at: moment.now, isTransition: false },
  });
  if (decision.kind !== 'waiting' && decision.kind !== 'expired') return unknown;
  const at = decision.kind === 'waiting' ? decision.until : decision.since;
  const because = `${unknown.note}: ${describeTtl(decision.because.ttl)} from when the controller first saw it, now at the latest`;
  return { kind: 'deleted', at, because };
}
