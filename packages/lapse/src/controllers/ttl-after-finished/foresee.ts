// What this family can say beforehand: the verdict about every Job and Pod, now and at the time it asks to be looked at
// again.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { describeBasis, describeExpiry, describeTtl } from '#deletion/expiry';
import type { Finishable } from '#deletion/finish/finishable';
import { describeLingering, nameOf, type Outlook, type Statement } from '../foresight.ts';
import { computeVerdict, type Verdict } from './compute.ts';

export interface Foreseen<T extends KubeObject> {
  readonly finishable: Finishable<T>;
  /** Asked for by this field: `spec.ttlSecondsAfterFinished`. */
  readonly rule: string;
  readonly gate: string;
  propagation(section: JsonObject): Propagation;
}

export async function* foreseeFinished<T extends KubeObject>(
  outlook: Outlook,
  { finishable, rule, gate, propagation }: Foreseen<T>,
  section: JsonObject,
): AsyncGenerator<Statement> {
  if (!outlook.isEnabled(gate)) return;
  const { kind, projection, fieldSelector } = finishable;
  const { namespace } = outlook;
  const source = {
    kind,
    projection,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  const manner = propagation(section);
  for await (const page of outlook.snapshot.each(source))
    for (const object of page) yield statementAbout(object, finishable, { rule, manner, outlook });
}

interface Context {
  readonly rule: string;
  readonly manner: Propagation;
  readonly outlook: Outlook;
}

function statementAbout<T extends KubeObject>(
  object: T,
  finishable: Finishable<T>,
  { rule, manner, outlook }: Context,
): Statement {
  const about = { object: nameOf(finishable.kind, object), rule };
  const end = lookAhead(finishable, object, outlook);
  switch (end.kind) {
    case 'ends':
      return { kind: 'ends', ...about, at: end.at, because: end.because, propagation: manner };
    case 'exempt':
      return { kind: 'held', ...about, because: end.note };
    case 'notApplicable':
      if (end.because === 'being deleted')
        return {
          kind: finishable.ttl(object).kind === 'after' ? 'held' : 'stays',
          ...about,
          because: describeLingering(object),
        };
      return {
        kind: HOLDING.has(end.because) ? 'held' : 'stays',
        ...about,
        because: describeExpiry(end),
      };
    default:
      return assertNever(end);
  }
}

/** Somebody asked for an end, and it will not come. */
const HOLDING: ReadonlySet<string> = new Set(['invalid TTL', 'finish time unknown', 'opted out']);

type Ahead =
  | { readonly kind: 'ends'; readonly at: Instant; readonly because: string }
  | Exclude<Verdict, { kind: 'waiting' | 'held' | 'expired' }>;

/** A finish too far ahead to be believed is believed later: the verdict of that time counts. */
function lookAhead<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  { now, tolerance }: Pick<Outlook, 'now' | 'tolerance'>,
): Ahead {
  const verdict = computeVerdict(finishable, object, { now, tolerance });
  switch (verdict.kind) {
    case 'waiting':
    case 'expired': {
      const because =
        describeBasis(verdict.because) + (finishable.needsFirstSight?.(object) ? MAY_BE_LATER : '');
      return { kind: 'ends', at: verdict.kind === 'waiting' ? verdict.until : verdict.since, because };
    }
    case 'notApplicable':
      return verdict.because === 'finish time unknown'
        ? lookFrom(finishable, object, verdict, { now, tolerance })
        : verdict;
    case 'held':
      return lookAhead(finishable, object, { now: verdict.until, tolerance });
    case 'exempt':
      return verdict;
    default:
      return assertNever(verdict);
  }
}

/** Only the controller knows when it saw the object finish. */
const MAY_BE_LATER = '; later if the controller saw it finish after that';

/**
 * Where nobody says when it finished, kinds that count from when a controller first saw it do end. Which moment that was
 * only the controller knows; it was not later than now.
 */
function lookFrom<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  unknown: Extract<Ahead, { kind: 'notApplicable' }>,
  moment: Pick<Outlook, 'now' | 'tolerance'>,
): Ahead {
  const verdict = computeVerdict(finishable, object, {
    ...moment,
    sight: { at: moment.now, isTransition: false },
  });
  if (verdict.kind !== 'waiting' && verdict.kind !== 'expired') return unknown;
  const at = verdict.kind === 'waiting' ? verdict.until : verdict.since;
  const because = `${unknown.note}: ${describeTtl(verdict.because.ttl)} from when the controller first saw it, now at the latest`;
  return { kind: 'ends', at, because };
}
