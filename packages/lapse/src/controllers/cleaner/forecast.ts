// The forecast for Cleaners: when an evaluation will find the conditions of each Cleaner true, and what is deleted
// then. Objects are taken as they are now. The forecast sends no access reviews, because a review is a write. Rights
// come from what admission and the last evaluation recorded, and for objects of a release from roles and bindings.

import { type Instant, parseTime } from '@lapse/base/instant';
import { Cleaner } from '#api/cleaner';
import { AUTHOR_ANNOTATION, describeUnknown } from '#authors/authorSeal';
import {
  type DeletedStatement,
  describeTerminating,
  type ForecastContext,
  isServed,
  nameOf,
  type Statement,
  type StatementReason,
  Unreadable,
} from '../forecaster.ts';
import { type Ahead, computeFirstTrue, describeOutcomes } from './conditions.ts';
import { computeExcess, computeGate, computeObstacle, type Gate } from './decide.ts';
import { describeDelayUntil, findDelay } from './delay.ts';
import {
  type Around,
  type CleanerRules,
  findObjectsToDelete,
  findTargets,
  type ObjectsToDelete,
  type ObjectToDelete,
  recordedObjectsToDelete,
} from './forecastDeletions.ts';
import { computeLimit } from './limit.ts';
import { countDeletions } from './record.ts';
import { periodOf } from './report.ts';
import { hasActor } from './rights.ts';
import { describeProblems, type Meaning, understand } from './spec.ts';
import { type Reason, readyOf } from './status.ts';
import { bindingsOf, type Found } from './targets.ts';

/** The forecast of one Cleaner. */
type Finding =
  | { readonly kind: 'deleted'; readonly at: Instant; readonly because: string }
  | {
      readonly kind: 'held';
      readonly because: string;
      readonly reason?: StatementReason;
      readonly until?: Instant;
    };

type Ending = Extract<Finding, { kind: 'deleted' }>;

export async function* forecastCleaners(
  forecastContext: ForecastContext,
  rules: CleanerRules,
): AsyncGenerator<Statement> {
  const { snapshot, namespace } = forecastContext;
  if (!isServed(snapshot, Cleaner)) return;
  const source = { kind: Cleaner, ...(namespace === undefined ? {} : { namespace }) };
  // Uses `list`, not `each`: `each` may return only the objects in question, but any Cleaner may delete them.
  for (const cleaner of await snapshot.list(source))
    try {
      yield* forecastOne({ forecastContext, rules, cleaner });
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      yield* tell(cleaner, { kind: 'held', because: error.message }, []);
    }
}

async function* forecastOne(around: Around): AsyncGenerator<Statement> {
  const { cleaner, forecastContext } = around;
  if (cleaner.metadata.deletionTimestamp !== undefined)
    return yield* tell(cleaner, { kind: 'held', because: describeTerminating(cleaner) }, []);
  const record = cleaner.status?.deletion;
  // A delay discards a decision that has not begun.
  const isDiscarded =
    record?.startedAt === undefined && findDelay(cleaner.metadata, forecastContext.now) !== undefined;
  if (record !== undefined && !isDiscarded) {
    const because = `all conditions were true at ${record.evaluatedAt}, and that was recorded`;
    const toDelete = recordedObjectsToDelete(around, record);
    const finding = heldByStatus(cleaner, 'HelmUninstallIncomplete') ?? {
      kind: 'deleted',
      at: forecastContext.now,
      because,
    };
    return yield* tell(cleaner, finding, toDelete);
  }
  const understood = understand(cleaner);
  if (understood.kind === 'invalid') {
    const because = describeProblems(understood.problems);
    return yield* tell(cleaner, { kind: 'held', because }, []);
  }
  const { meaning } = understood;
  const found = await findTargets(around, meaning);
  if (typeof found === 'string') return yield* tell(cleaner, { kind: 'held', because: found }, []);
  const finding = missingRights(around, meaning) ?? (await judge(around, meaning, found));
  const at = finding.kind === 'deleted' ? finding.at : forecastContext.now;
  const toDelete = await findObjectsToDelete(around, meaning, found, at);
  yield* statementsOnAll(around, settle(around, finding, meaning, toDelete), toDelete);
}

/** What status reports, if it has one of the reasons. It is retried at the next evaluation. */
function heldByStatus(cleaner: Cleaner, ...reasons: Reason[]): Finding | undefined {
  const { reason, message = '' } = readyOf(cleaner) ?? {};
  return reasons.some((one) => one === reason) ? heldUntilNext(cleaner, message) : undefined;
}

function heldUntilNext(cleaner: Cleaner, because: string): Finding {
  const until = nextEvaluation(cleaner);
  return { kind: 'held', because, ...(until === undefined ? {} : { until }) };
}

/**
 * Objects of the release that are left keep its records and the Cleaner, except where the operator configures
 * otherwise.
 */
function* statementsOnAll(
  { cleaner, rules }: Around,
  finding: Finding,
  { objects, records, left }: ObjectsToDelete,
): Generator<Statement> {
  const rule = ruleOf(cleaner);
  for (const { object, why, as } of left)
    yield { kind: as === 'forbidden' ? 'held' : 'kept', object, rule, because: why };
  const unfinished = left.filter(({ as }) => as !== 'kept');
  if (finding.kind === 'held' || unfinished.length === 0 || rules.helmPurgeIncomplete)
    return yield* tell(cleaner, finding, [...objects, ...records]);
  for (const one of objects) yield endOf(rule, finding, one);
  const names = unfinished
    .slice(0, MOST_NAMED)
    .map(({ object: { kind, name }, why }) => `${kind}/${name} (${why})`);
  const more = unfinished.length - names.length;
  const because = `the release is not uninstalled completely, left: ${names.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
  yield* tell(cleaner, { kind: 'held', because }, records);
}

const MOST_NAMED = 5;

/** The obstacles to a decision after all conditions are true. */
function settle(
  { cleaner, rules }: Around,
  finding: Finding,
  meaning: Meaning,
  toDelete: ObjectsToDelete,
): Finding {
  if (finding.kind === 'held') return finding;
  const { at, because } = finding;
  const obstacle = toDelete.obstacle ?? computeExcess(toDelete.parts);
  if (obstacle !== undefined) {
    const { message, until } = obstacle;
    return { kind: 'held', because: message, ...(until === undefined ? {} : { until }) };
  }
  const limit = computeLimit(cleaner, meaning, countDeletions(toDelete.parts), rules.limits, at);
  if (limit.kind === 'exceeded')
    return { kind: 'held', because: `the Cleaner is ${limit.message}`, reason: 'LimitExceeded' };
  return meaning.dryRun
    ? {
        kind: 'held',
        because: `the Cleaner is in mode DryRun; ${because}`,
        reason: 'DryRun',
        until: at,
      }
    : finding;
}

function missingRights({ cleaner, forecastContext, rules }: Around, meaning: Meaning): Finding | undefined {
  const { actAs } = forecastContext;
  const isSigned = cleaner.metadata.annotations?.[AUTHOR_ANNOTATION] !== undefined;
  if (!hasActor({ ...rules, actAs }, meaning.account, isSigned))
    return { kind: 'held', because: describeUnknown(cleaner) };
  return isCurrent(cleaner) ? heldByStatus(cleaner, 'Forbidden', 'AuthorExpired') : undefined;
}

/** Whether status is about the current spec. */
const isCurrent = ({ status, metadata }: Cleaner): boolean =>
  status?.observedGeneration === metadata.generation;

const nextEvaluation = ({ status }: Cleaner): Instant | undefined => {
  const at = parseTime(status?.nextScheduledEvaluation ?? '');
  return Number.isFinite(at) ? at : undefined;
};

async function judge(
  { cleaner, forecastContext }: Around,
  meaning: Meaning,
  found: readonly Found[],
): Promise<Finding> {
  const { now } = forecastContext;
  const gate = computeGate(cleaner, meaning.ttl, now);
  if (gate.kind === 'never') return { kind: 'held', because: gate.note, reason: 'OptedOut' };
  if (gate.kind === 'invalid') return { kind: 'held', because: gate.note, reason: 'InvalidTTL' };
  const ttl = describeGate(cleaner, gate);
  const obstacle = computeObstacle(found);
  if (obstacle !== undefined) return { kind: 'held', because: obstacle.message };
  const from = gate.kind === 'waiting' ? gate.until : firstLook(cleaner, gate.since, now);
  const { conditions, monotonic } = meaning;
  const ahead: Ahead = await computeFirstTrue(conditions, bindingsOf(found), from, {
    period: periodOf(meaning),
    monotonic,
  });
  if (ahead.kind === 'true') {
    return { kind: 'deleted', at: ahead.at, because: `${ttl}; ${describeTrue(conditions.length)}` };
  }
  const { outcomes, result } = ahead.conditionResult;
  const be = conditions.length === 1 ? 'it is' : 'they are';
  const known = ahead.kind === 'broken' ? '' : `, and no time is known at which ${be}`;
  return heldUntilNext(cleaner, `${ttl}; ${describeOutcomes(outcomes, result)}${known}`);
}

function describeGate(
  { metadata, spec }: Cleaner,
  gate: Extract<Gate, { kind: 'waiting' | 'open' }>,
): string {
  const at = gate.kind === 'waiting' ? gate.until : gate.since;
  const delay = gate.delayed === true ? `, ${describeDelayUntil(at)}` : '';
  return `created ${metadata.creationTimestamp}, TTL ${spec.ttl}${delay}`;
}

function describeTrue(conditions: number): string {
  if (conditions === 0) return 'no conditions';
  return conditions === 1 ? 'its condition is true then' : `all ${conditions} conditions are true then`;
}

/**
 * An open Cleaner is evaluated when its status says so. Without conditions or an evaluation in status it is
 * evaluated at once.
 */
function firstLook(cleaner: Cleaner, since: Instant, now: Instant): Instant {
  if ((cleaner.spec.conditions ?? []).length === 0) return since;
  const next = nextEvaluation(cleaner);
  return next !== undefined && isCurrent(cleaner) && next > now ? next : now;
}

/** The same statement about every object to be deleted, and about the Cleaner, which is deleted last. */
function* tell(
  cleaner: Cleaner,
  finding: Finding,
  toDelete: readonly ObjectToDelete[],
): Generator<Statement> {
  const rule = ruleOf(cleaner);
  const self = nameOf(Cleaner, cleaner);
  if (finding.kind === 'held') {
    for (const { object, why } of toDelete)
      yield { ...finding, object, rule, because: `${why}: ${finding.because}` };
    yield { ...finding, object: self, rule };
    return;
  }
  for (const one of toDelete) yield endOf(rule, finding, one);
  const { anyVersion: _, ...last } = endOf(rule, finding, {
    object: self,
    why: 'the Cleaner itself is deleted last',
  });
  yield last;
}

const ruleOf = ({ metadata: { namespace, name } }: Cleaner): string => `Cleaner ${namespace}/${name}`;

const endOf = (rule: string, { at, because }: Ending, { object, why }: ObjectToDelete): DeletedStatement => ({
  kind: 'deleted',
  object,
  rule,
  at,
  because: `${why}: ${because}`,
  propagation: 'Background',
  anyVersion: true,
});
