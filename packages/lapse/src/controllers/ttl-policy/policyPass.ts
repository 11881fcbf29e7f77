// One look at one policy: may it act, are its targets here, what does its status say. Targets have passes of their own.

import { type Instant, instant, isDue, minutes, plus, seconds } from '@lapse/base/instant';
import { invalidError } from '@lapse/kube/api/fieldErrors';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { again, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { DynamicView, Pass } from '@lapse/runtime/pass';
import type { Source } from '@lapse/runtime/source';
import { type Activation, type ActivationOptions, activate } from './activation.ts';
import type { Counts } from './book.ts';
import { type AnyPolicy, type CompiledPolicy, compilePolicy } from './compile.ts';
import type { Waking } from './keys.ts';
import { type ActivePolicy, type Entry, isSynced, type Policies } from './policies.ts';
import type { Refusal } from './rights.ts';
import { DEFINITIONS, NAMESPACES, policySources } from './sources.ts';
import { computeStatus, computeStep, type Report } from './status.ts';

export interface PolicyPassOptions extends ActivationOptions {
  readonly policies: Policies;
  /** Set: nothing outside it is watched. */
  readonly namespace?: string;
}

/** How often targets are counted at most, and how long those that nobody has looked at yet are given. */
const COUNTING = seconds(1);
/** A deadline, and the time a deletion usually takes. */
const SETTLING = seconds(2);
/** How long rights that were found in order are not suspected again. */
const CLEARED = minutes(5);
/** While objects are overdue, their deletion may have been refused: the rights are looked at this often. */
const OVERDUE = seconds(30);

export async function reconcilePolicy(
  pass: Pass,
  { of, key }: Extract<Waking, { kind: 'policy' }>,
  options: PolicyPassOptions,
): Promise<Outcome> {
  const { policies } = options;
  const isEverywhere = options.namespace === undefined;
  const policy = pass.cache.get(of, key);
  if (policy === undefined || policy.metadata.deletionTimestamp !== undefined) {
    policies.forget(key);
    pass.dynamic.declare([]);
    return settled();
  }
  const entry = policies.entryOf(policy, key, pass.now);
  entry.book.continueFrom(policy.status?.deleted ?? 0);
  const compiled = compilePolicy(policy);
  if (compiled.kind === 'invalid') {
    entry.broken = true;
    const { message } = invalidError({ group: 'lapse.dev', kind: policy.kind }, key.name, compiled.errors);
    return rest(pass, of, policy, { entry, refusal: { reason: 'InvalidSpec', message }, isEverywhere });
  }
  await review(pass, policy, compiled.policy, entry, options);
  const activation = entry.activation!;
  if (activation.kind === 'allowed')
    return work(pass, of, policy, entry, {
      active: policies.activate(entry, compiled.policy, activation, pass.now),
      policySources: policySources(options.namespace),
    });
  policies.deactivate(entry);
  return rest(pass, of, policy, { entry, refusal: activation.refusal, isEverywhere });
}

/** Asks again when it is time, when a delete was refused, and whenever its kind may have come. */
async function review(
  pass: Pass,
  policy: AnyPolicy,
  compiled: CompiledPolicy,
  entry: Entry,
  options: PolicyPassOptions,
): Promise<void> {
  const { activation, active } = entry;
  const awaits = activation?.kind === 'refused' && activation.awaits !== undefined;
  const isCurrent =
    activation !== undefined && (activation.reviewAt === undefined || !isDue(activation.reviewAt, pass.now));
  if (isCurrent && !awaits && active?.suspect !== true) return;
  // A definition came. Without one, a look that somebody else had just now will do.
  if (isCurrent && awaits) options.client.discovery.invalidate();
  const isComing = activation === undefined || (isCurrent && awaits);
  try {
    entry.activation = await activate(options, policy, compiled, { now: pass.now, isComing });
    entry.isUnsure = false;
  } catch (error) {
    entry.isUnsure = true;
    if (active !== undefined) active.suspect = true;
    throw error;
  }
  if (active?.suspect !== true) return;
  active.suspect = false;
  active.clearedUntil = plus(pass.now, CLEARED);
}

/** Not at work: says why, and looks again later. */
async function rest(
  pass: Pass,
  of: Kind<AnyPolicy>,
  policy: AnyPolicy,
  { entry, refusal, isEverywhere }: { entry: Entry; refusal: Refusal; isEverywhere: boolean },
): Promise<Outcome> {
  const { activation } = entry;
  const awaits = activation?.kind === 'refused' && activation.awaits !== undefined;
  // In one namespace there may be no right to read definitions: then the kind is looked for from time to time.
  pass.dynamic.declare(awaits && isEverywhere ? [DEFINITIONS] : []);
  const report: Report = { kind: 'refused', refusal, deleted: entry.book.deleted };
  const at = refusal.reason === 'InvalidSpec' ? undefined : activation?.reviewAt;
  return writeStatus(pass, of, policy, { entry, report, next: at });
}

async function work(
  pass: Pass,
  of: Kind<AnyPolicy>,
  policy: AnyPolicy,
  entry: Entry,
  { active, policySources: others }: { active: ActivePolicy; policySources: readonly Source[] },
): Promise<Outcome> {
  const { reviewAt, notice } = entry.activation as Extract<Activation, { kind: 'allowed' }>;
  const needsNamespaces = active.namespaceLabels !== undefined;
  const views = pass.dynamic.declare([active.source, ...(needsNamespaces ? [NAMESPACES] : []), ...others]);
  const view = views[0]!;
  const namespaces = needsNamespaces ? views[1] : undefined;
  active.view = view;
  if (namespaces !== undefined) active.namespaces = namespaces;
  const problem = problemOf(view) ?? problemOf(namespaces);
  if (problem === undefined && !isSynced(active)) return waitFor(reviewAt);
  if (problem !== undefined && (problem.isLasting || !isSynced(active))) {
    const report: Report = { kind: 'refused', refusal: problem, deleted: entry.book.deleted };
    return writeStatus(pass, of, policy, { entry, report, next: reviewAt });
  }
  // Every event of a target comes by here; counting a hundred thousand of them takes milliseconds, so not every time. What
  // failed comes back by itself, later each time; to rest here would begin its patience anew.
  const countAt = entry.countedAt === undefined ? pass.now : plus(entry.countedAt, COUNTING);
  if (pass.failures === 0 && !isDue(countAt, pass.now)) return waitUntil(countAt, 'counting');
  if (entry.book.size < view.reader.size) return waitUntil(plus(pass.now, COUNTING), 'counting');
  entry.countedAt = pass.now;
  const counts = entry.book.count(pass.now);
  const { deleted } = entry.book;
  const report: Report = { kind: 'working', mode: active.mode, counts, deleted, notice };
  const next = computeNext(active, counts, reviewAt, pass.now);
  return writeStatus(pass, of, policy, { entry, report, next });
}

/** When the counts may look different without an event: after the next deadline, or while deletions are not accepted. */
function computeNext(
  { mode }: ActivePolicy,
  { next, due }: Counts,
  reviewAt: Instant | undefined,
  now: Instant,
): Instant | undefined {
  const wakes = [
    ...(reviewAt === undefined ? [] : [reviewAt]),
    ...(mode !== 'Paused' && due > 0 ? [plus(now, OVERDUE)] : []),
    ...(next === undefined ? [] : [plus(next, SETTLING)]),
  ];
  return wakes.length === 0 ? undefined : instant(Math.min(...wakes));
}

const waitFor = (at: Instant | undefined): Outcome =>
  at === undefined ? settled() : waitUntil(at, 'review');

/** `isLasting`: what was read before is still here, and yet somebody must do something. */
function problemOf(view: DynamicView | undefined): (Refusal & { isLasting: boolean }) | undefined {
  const problem = view?.status.problem;
  if (view === undefined || problem === undefined) return undefined;
  const { kind } = view.source;
  return {
    reason: problem.kind === 'notServed' ? 'KindNotServed' : 'CannotRead',
    message: `${problem.verb} ${kind.resource}: ${problem.error.message}`,
    isLasting: problem.kind === 'notServed' || problem.kind === 'forbidden',
  };
}

interface Writing {
  readonly entry: Entry;
  readonly report: Report;
  /** When to look again because of the clock. */
  readonly next: Instant | undefined;
}

async function writeStatus(
  pass: Pass,
  of: Kind<AnyPolicy>,
  policy: AnyPolicy,
  { entry, report, next }: Writing,
): Promise<Outcome> {
  const status = computeStatus(policy, report, pass.now);
  const { written } = entry;
  const step = computeStep(policy.status, status, written, pass.now);
  const rested = waitFor(next);
  if (step.kind === 'same') {
    delete written.differsSince;
    return rested;
  }
  written.differsSince ??= pass.now;
  if (step.kind === 'later') return waitUntil(instant(Math.min(step.at, next ?? step.at)), 'status');
  const { resourceVersion } = policy.metadata;
  const answer = await pass.client.patch(
    of,
    entry.key,
    { type: 'merge', patch: { status } },
    { subresource: 'status', ...(resourceVersion === undefined ? {} : { ifVersion: resourceVersion }) },
  );
  switch (answer.kind) {
    case 'patched':
      written.wroteAt = pass.now;
      delete written.differsSince;
      tell(pass, policy, report);
      return rested;
    case 'conflict':
      return again('status changed meanwhile');
    case 'missing':
      return settled();
    case 'invalid':
      throw answer.error;
  }
}

/** People are told when it stops working, and why; not at every count. */
function tell(pass: Pass, policy: AnyPolicy & KubeObject, report: Report): void {
  const before = policy.status?.conditions?.find(({ type }) => type === 'Ready');
  if (report.kind === 'working' || before?.reason === report.refusal.reason) return;
  const { reason, message } = report.refusal;
  pass.event(policy, { type: 'Warning', reason, action: 'Reconcile', note: message });
}
