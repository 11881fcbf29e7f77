// Carries out a recorded decision: deletes the targets by uid, uninstalls the Helm release, and deletes the Cleaner
// last. Every reconcile starts from the record, so after a crash the same steps are repeated. They are idempotent.

import { assertNever } from '@lapse/base/assertNever';
import {
  type Instant,
  type Millis,
  millis,
  minus,
  minutes,
  parseTime,
  plus,
  seconds,
} from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import { again, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner, type DeletionRecord, type RecordedTarget } from '#api/cleaner';
import { outcomeOf } from '#deletion/deletion';
import { objectId } from '#deletion/ownDeletions';
import { type Acting, authorOf } from './actor.ts';
import { type DeletingClient, deleteObject } from './authorizedClient.ts';
import type { Context } from './context.ts';
import { authorizedClientOf } from './decide.ts';
import type { Uninstalled } from './helm.ts';
import { announceUninstalled, describeIncomplete, uninstallRecorded } from './helmDeletion.ts';
import type { DiscardedBecause } from './metrics.ts';
import { Progress } from './progress.ts';
import { computeOutdated, describeDecision, isBelievable, isLastDecision, kindOf } from './record.ts';
import { memoKey, Reporter } from './reporter.ts';
import { type Target, understand } from './spec.ts';
import { type Report, writeStatus } from './status.ts';

const DEFAULT_RETRY: Millis = minutes(5);
const HOLD: Millis = seconds(30);
const CLOCK_UNKNOWN =
  "nothing more is deleted: the API server's clock is unknown, or further away than maxClockSkew allows";

/** When to retry a problem that the user has to fix. */
function retryOf(cleaner: Cleaner): Millis {
  const understood = understand(cleaner);
  const period = understood.kind === 'meaning' ? understood.meaning.period : undefined;
  return millis(Math.min(period ?? DEFAULT_RETRY, DEFAULT_RETRY));
}

function targetsOf(cleaner: Cleaner): readonly Target[] {
  const understood = understand(cleaner);
  return understood.kind === 'meaning' ? understood.meaning.targets : [];
}

export class Deletion {
  readonly #ctx: ReconcileContext;
  readonly #context: Context;
  readonly #progress: Progress;
  #actor: Acting | undefined;

  constructor(ctx: ReconcileContext, context: Context, cleaner: Cleaner, record: DeletionRecord) {
    this.#ctx = ctx;
    this.#context = context;
    this.#progress = new Progress(ctx, context, cleaner, record);
  }

  get #cleaner(): Cleaner {
    return this.#progress.cleaner;
  }

  get #record(): DeletionRecord {
    return this.#progress.record;
  }

  /** Continues with a record found in status. Checks first that Lapse wrote it and that the actor has the rights. */
  async resume(): Promise<Outcome> {
    const { actors, records } = this.#context;
    if (this.#ctx.dryRun) return waitUntil(plus(this.#ctx.now, DEFAULT_RETRY), 'dry run');
    if (!(await records.isAuthentic(this.#cleaner, this.#record))) return this.#discardForged();
    if (!isBelievable(this.#record, this.#cleaner, actors.accountOf(this.#cleaner)))
      return this.#discard('impossible', 'this Cleaner cannot have led to it');
    const clockCheck = await this.#context.guard.check();
    if (clockCheck.kind !== 'good')
      return new Reporter(this.#ctx, this.#context, this.#cleaner).unavailable(
        'ClockUnknown',
        CLOCK_UNKNOWN,
        HOLD,
      );
    const actor = await actors.ofRecord(this.#cleaner, this.#record.serviceAccountName);
    if (actor.kind === 'noActor') return this.#stuck(actor.reason, actor.why);
    if (authorOf(actor) !== this.#record.author)
      return this.#discard('author changed', 'the Cleaner has another author now');
    this.#actor = actor;
    const outdated = computeOutdated(this.#record, this.#cleaner, this.#ctx.now);
    if (outdated !== undefined && !(await this.#progress.hasBegun(this.#authorized(actor))))
      return this.#discard('outdated', outdated);
    const refusal = await actors.refusalOfRecord(actor, this.#record, this.#ctx.key.namespace ?? '');
    return refusal === undefined ? this.carryOut(actor) : this.#stuck('Forbidden', refusal);
  }

  /** Carries out a record that this reconcile has written or `resume` has checked. */
  async carryOut(actor: Acting): Promise<Outcome> {
    this.#actor = actor;
    return (await this.#deleteTargets(actor)) ?? (await this.#uninstall(actor)) ?? this.#deleteSelf();
  }

  /** Discards the decision. The Cleaner is evaluated again. */
  #discard(because: DiscardedBecause, why: string): Promise<Outcome> {
    const note = `the decision to delete ${describeDecision(this.#record)} was given up: ${why}`;
    return this.#giveUp(because, 'Normal', note);
  }

  /** The message repeats nothing from the record: Lapse did not write it. */
  #discardForged(): Promise<Outcome> {
    const { uid } = this.#cleaner.metadata;
    this.#ctx.log.warn({ uid }, 'discarded a deletion record that is not authenticated');
    const note =
      'status.deletion was discarded without deleting anything: Lapse did not write it, or its author key was replaced; check who may patch cleaners/status';
    return this.#giveUp('unauthenticated', 'Warning', note);
  }

  async #giveUp(because: DiscardedBecause, type: 'Normal' | 'Warning', note: string): Promise<Outcome> {
    this.#context.metrics.discarded(because);
    this.#ctx.event(this.#cleaner, { type, reason: 'DecisionDiscarded', action: 'Delete', note });
    await writeStatus(this.#ctx, this.#cleaner, { reason: 'WaitingForConditions', message: note });
    return again('decision given up');
  }

  #authorized(actor: Acting): DeletingClient {
    const ctx = this.#ctx;
    const { expirer } = this.#context;
    const since = parseTime(this.#record.evaluatedAt);
    return {
      ...authorizedClientOf({ ctx, context: this.#context, cleaner: this.#cleaner, actor }),
      expire: (kind, object, because) =>
        expirer.expireRecorded(ctx, {
          kind,
          object,
          since,
          because,
          propagation: 'Background',
          client: actor.client,
        }),
      observe: (kind, key, object) => expirer.observe(ctx, { id: objectId(kind, key), kind, object }),
    };
  }

  async #deleteTargets(actor: Acting): Promise<Outcome | undefined> {
    const authorized = this.#authorized(actor);
    const done = this.#progress.done().uids;
    for (const target of this.#record.targets) {
      if (done.has(target.uid)) continue;
      const held = this.#heldUntil(target.uid);
      if (held !== undefined) return waitUntil(held, 'held: budget');
      const key = this.#here(target.name);
      const refusal = await this.#context.actors.refusalTo(actor, 'delete', kindOf(target), key);
      if (refusal !== undefined) return this.#stuck('Forbidden', refusal);
      if (!this.#progress.isWanted()) return settled();
      const answer = await deleteObject(authorized, kindOf(target), target, 'target');
      switch (answer.kind) {
        case 'deleted':
        case 'gone':
          // An object that is gone may have been deleted by an earlier request of Lapse that was not noted.
          await this.#progress.noteStart();
          break;
        case 'forbidden':
          return this.#stuck('Forbidden', answer.why);
        case 'refused':
          return this.#stuck('Forbidden', `${describe(target)} could not be deleted: ${answer.why}`);
        default:
          return assertNever(answer);
      }
      done.add(target.uid);
      if (this.#progress.lost) return again('changed while deleting');
    }
    return undefined;
  }

  #heldUntil(uid: string): Instant | undefined {
    const claim = this.#context.budget?.claim(uid, this.#ctx.now);
    return claim?.kind === 'wait' ? claim.until : undefined;
  }

  #here(name: string): ObjectKey {
    const { namespace = '' } = this.#ctx.key;
    return { namespace, name };
  }

  async #uninstall(actor: Acting): Promise<Outcome | undefined> {
    const { helm } = this.#record;
    if (helm === undefined) return undefined;
    const result = await uninstallRecorded(helm, {
      ctx: this.#ctx,
      context: this.#context,
      progress: this.#progress,
      actor,
      authorized: this.#authorized(actor),
      heldUntil: (uid) => this.#heldUntil(uid),
    });
    if (this.#progress.lost) return again('changed while deleting');
    return this.#afterUninstall(helm.release, result);
  }

  async #afterUninstall(release: string, result: Uninstalled): Promise<Outcome | undefined> {
    switch (result.kind) {
      case 'done':
        announceUninstalled(this.#ctx, this.#progress, release, result);
        return undefined;
      case 'busy':
        return this.#stuck(
          'HelmOperationInProgress',
          `the release ${release} is ${result.status}`,
          result.until,
        );
      case 'incomplete':
        return this.#stuck('HelmUninstallIncomplete', describeIncomplete(result, this.#here(release)));
      case 'failed':
        return this.#stuck('HelmUninstallFailed', `the release ${release}: ${result.why}`);
      case 'changed':
        return this.#giveRelease(release, result.why);
      case 'unwanted':
        return settled();
      case 'waiting':
        return waitUntil(result.until, result.why);
      default:
        return assertNever(result);
    }
  }

  /** The release was changed meanwhile. It is kept, and a new decision is needed to delete it. */
  async #giveRelease(release: string, why: string): Promise<Outcome | undefined> {
    const message = `the release ${release} was left: ${why}`;
    if (isLastDecision(this.#record, targetsOf(this.#cleaner))) return this.#goWithoutRelease(message);
    const until = plus(this.#ctx.now, retryOf(this.#cleaner));
    const report: Report = { reason: 'HelmUninstallFailed', message, next: until };
    const written = await writeStatus(this.#ctx, this.#cleaner, report);
    return written.kind === 'lost' ? again('changed while deleting') : this.#hold(until, 'release changed');
  }

  /**
   * The objects that conditions read are deleted, so no new decision is possible. The rest of this decision is
   * carried out without the release.
   */
  async #goWithoutRelease(message: string): Promise<Outcome | undefined> {
    const note = `${message}; what the conditions look at is deleted, so the Cleaner goes without it`;
    this.#ctx.event(this.#cleaner, { type: 'Warning', reason: 'HelmReleaseLeft', action: 'Delete', note });
    const { helm: _helm, ...rest } = this.#record;
    return (await this.#progress.note(rest)) === 'stop' ? again('changed while deleting') : undefined;
  }

  /**
   * A problem that the user has to fix. If nothing has been deleted yet, the decision is discarded: the conditions
   * may be false again by the time the problem is fixed.
   */
  async #stuck(reason: Report['reason'], message: string, at?: Instant): Promise<Outcome> {
    const until = at ?? plus(this.#ctx.now, retryOf(this.#cleaner));
    const report: Report = (await this.#progress.hasBegun(this.#actor && this.#authorized(this.#actor)))
      ? {
          ...this.#progress.kept(),
          reason,
          message,
          next: until,
          deletion: await this.#progress.signedStart(),
        }
      : { reason, message, next: until };
    const written = await writeStatus(this.#ctx, this.#cleaner, report);
    return written.kind === 'lost' ? again('changed while deleting') : this.#hold(until, 'stuck');
  }

  #hold(until: Instant, why: string): Outcome {
    const { uid = '', generation = 1 } = this.#cleaner.metadata;
    this.#context.holds.set(memoKey(this.#ctx.key), {
      uid,
      generation,
      until,
      wait: minus(until, this.#ctx.now),
      why,
    });
    return waitUntil(until, why);
  }

  /**
   * The last step, with preconditions like every deletion: if the Cleaner changed meanwhile, it is read and
   * evaluated again.
   */
  async #deleteSelf(): Promise<Outcome> {
    const { evaluatedAt } = this.#record;
    const since = parseTime(evaluatedAt);
    const deletion = await this.#context.expirer.expire(this.#ctx, {
      kind: Cleaner,
      object: this.#cleaner,
      since,
      because: 'cleaner',
      decide: (live) =>
        live.status?.deletion?.evaluatedAt === evaluatedAt && live.metadata.deletionTimestamp === undefined
          ? { kind: 'delete', since }
          : { kind: 'keep', verdict: undefined },
      propagation: 'Background',
    });
    return outcomeOf(deletion, () => again('changed while deleting'));
  }
}

const describe = ({ resource, name }: RecordedTarget) => `${resource} ${name}`;
