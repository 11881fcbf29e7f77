// Carrying out a decision that was recorded: the targets by uid, the Helm release, and last the Cleaner itself. It starts
// from the record each time, so a crash anywhere is followed by the same steps; what is gone already stays gone.

import type { ObjectKey } from '#api/kind';
import { Cleaner, type DeletionRecord, type RecordedTarget } from '#api/kinds/cleaner';
import { assertNever } from '#base/assertNever';
import {
  formatTime,
  type Instant,
  type Millis,
  millis,
  minutes,
  parseTime,
  plus,
  seconds,
} from '#base/instant';
import { outcomeOf } from '#lifecycle/deletion';
import { again, type Outcome, settled, waitUntil } from '#runtime/outcome';
import type { Pass } from '#runtime/pass';
import type { Acting } from './actor.ts';
import type { Context } from './context.ts';
import { handsOf } from './decide.ts';
import { deleteObject, getMetadata } from './hands.ts';
import { readStorage, type Uninstalled, uninstall } from './helm.ts';
import { createHookRunner } from './hooks.ts';
import { describeDecision, isBelievable, kindOf } from './record.ts';
import { memoKey } from './reporter.ts';
import { understand } from './spec.ts';
import { type Report, writeStatus } from './status.ts';

const DEFAULT_RETRY: Millis = minutes(5);
const HOLD: Millis = seconds(30);

/** When to try again what somebody has to put right. */
function retryOf(cleaner: Cleaner): Millis {
  const understood = understand(cleaner);
  const period = understood.kind === 'meaning' ? understood.meaning.period : undefined;
  return millis(Math.min(period ?? DEFAULT_RETRY, DEFAULT_RETRY));
}

export class Deletion {
  readonly #pass: Pass;
  readonly #context: Context;
  #cleaner: Cleaner;
  #record: DeletionRecord;
  #lost = false;

  constructor(pass: Pass, context: Context, cleaner: Cleaner, record: DeletionRecord) {
    this.#pass = pass;
    this.#context = context;
    this.#cleaner = cleaner;
    this.#record = record;
  }

  async run(): Promise<Outcome> {
    if (this.#pass.dryRun) return waitUntil(plus(this.#pass.now, DEFAULT_RETRY), 'dry run');
    if (!isBelievable(this.#record, this.#cleaner, this.#context.actors.accountOf(this.#cleaner)))
      return this.#discard('it is none that this Cleaner could have led to');
    const verdict = await this.#context.guard.check();
    if (verdict.kind !== 'good') return waitUntil(plus(this.#pass.now, HOLD), 'clock');
    // With the account it was decided with, whatever the spec says by now.
    const actor = await this.#context.actors.of(this.#cleaner, this.#record.serviceAccountName);
    if (actor.kind === 'nobody') return this.#stuck('Forbidden', actor.why);
    if (this.#record.generation !== this.#cleaner.metadata.generation && !(await this.#hasBegun(actor)))
      return this.#discard('the spec was changed before anything was deleted');
    return (await this.#deleteTargets(actor)) ?? (await this.#uninstall(actor)) ?? this.#deleteSelf();
  }

  /** Gives the decision up; the Cleaner is looked at anew. */
  async #discard(why: string): Promise<Outcome> {
    const note = `the decision to delete ${describeDecision(this.#record)} was given up: ${why}`;
    this.#pass.event(this.#cleaner, { type: 'Normal', reason: 'DecisionDiscarded', action: 'Delete', note });
    await writeStatus(this.#pass, this.#cleaner, { reason: 'WaitingForConditions', message: note });
    return again('decision given up');
  }

  /** Whether anything of the record is gone already; what was deleted just before a crash was not noted. */
  async #hasBegun(actor: Acting): Promise<boolean> {
    if (this.#record.startedAt !== undefined) return true;
    const hands = handsOf({ pass: this.#pass, cleaner: this.#cleaner, actor });
    for (const target of this.#record.targets) {
      const read = await getMetadata(hands, kindOf(target), target.name);
      if (read.kind !== 'read') continue;
      const { uid, deletionTimestamp } = read.value?.metadata ?? {};
      if (uid !== target.uid || deletionTimestamp !== undefined) return true;
    }
    if (this.#record.helm === undefined) return false;
    const storage = await readStorage(hands, this.#record.helm.release);
    if (storage.kind !== 'read') return false;
    const uids = new Set(storage.value.map(({ uid }) => uid));
    return this.#record.helm.storage.some(({ uid }) => !uids.has(uid));
  }

  async #deleteTargets(actor: Acting): Promise<Outcome | undefined> {
    const hands = handsOf({ pass: this.#pass, cleaner: this.#cleaner, actor });
    const done = this.#done();
    for (const target of this.#record.targets) {
      if (done.has(target.uid)) continue;
      const held = this.#heldUntil(target.uid);
      if (held !== undefined) return waitUntil(held, 'held: budget');
      if (!(await this.#context.actors.may(actor, 'delete', kindOf(target), this.#here(target.name))))
        return this.#stuck('Forbidden', `the author may no longer delete ${describe(target)}`);
      const answer = await deleteObject(hands, kindOf(target), target);
      switch (answer.kind) {
        case 'deleted':
          await this.#begun('target');
          break;
        case 'gone':
          break;
        case 'forbidden':
          return this.#stuck('Forbidden', answer.why);
        case 'refused':
          return this.#stuck('Forbidden', `${describe(target)} could not be deleted: ${answer.why}`);
        default:
          return assertNever(answer);
      }
      done.add(target.uid);
      if (this.#lost) return again('changed while deleting');
    }
    return undefined;
  }

  /** Uids of this decision that need not be asked for again. */
  #done(): Set<string> {
    const { evaluatedAt } = this.#record;
    const key = memoKey(this.#pass.key);
    const known = this.#context.done.get(key);
    if (known?.evaluatedAt === evaluatedAt) return known.uids;
    const begun = { evaluatedAt, uids: new Set<string>() };
    this.#context.done.set(key, begun);
    return begun.uids;
  }

  #heldUntil(uid: string): Instant | undefined {
    const claim = this.#context.budget?.claim(uid, this.#pass.now);
    return claim?.kind === 'wait' ? claim.until : undefined;
  }

  #here(name: string): ObjectKey {
    const { namespace = '' } = this.#pass.key;
    return { namespace, name };
  }

  /** Notes once that there is no way back. */
  async #begun(what: 'target' | 'release object' | 'release record'): Promise<'go on' | 'stop'> {
    this.#context.metrics.deleted(what);
    if (this.#record.startedAt !== undefined) return 'go on';
    return this.#note({ ...this.#record, startedAt: formatTime(this.#pass.now) });
  }

  /** `stop`: it changed or went away, so that this record is not what goes on from here. */
  async #note(record: DeletionRecord): Promise<'go on' | 'stop'> {
    const written = await writeStatus(this.#pass, this.#cleaner, this.#deleting(record));
    if (written.kind === 'lost') {
      this.#lost = true;
      return 'stop';
    }
    this.#cleaner = written.cleaner;
    this.#record = record;
    return 'go on';
  }

  #deleting(record: DeletionRecord): Report {
    return {
      ...this.#kept(),
      reason: 'Deleting',
      message: `deleting ${describeDecision(record)}`,
      deletion: record,
    };
  }

  /** What was known about the Cleaner when it was decided. */
  #kept(): Pick<Report, 'shown' | 'evaluations'> {
    const { resolvedTargets, resolvedTargetCount, evaluations } = this.#cleaner.status ?? {};
    return {
      ...(resolvedTargets === undefined
        ? {}
        : { shown: { resolvedTargets, resolvedTargetCount: resolvedTargetCount ?? resolvedTargets.length } }),
      ...(evaluations === undefined ? {} : { evaluations }),
    };
  }

  async #uninstall(actor: Acting): Promise<Outcome | undefined> {
    const { helm } = this.#record;
    if (helm === undefined) return undefined;
    const { options, client, actors } = this.#context;
    const hands = handsOf({ pass: this.#pass, cleaner: this.#cleaner, actor });
    const result = await uninstall({
      hands,
      discovery: client.discovery,
      record: helm,
      self: this.#pass.key.name,
      now: this.#pass.now,
      allowForeign: options.helmAllowForeign,
      mayDelete: (kind, key) => actors.may(actor, 'delete', kind, key),
      heldUntil: (uid) => this.#heldUntil(uid),
      onDeleted: (what) => this.#begun(what),
      runHooks: createHookRunner({
        hands,
        discovery: client.discovery,
        now: this.#pass.now,
        enabled: options.helmHooks === 'run',
        timeout: options.helmHookTimeout,
        may: (verb, kind, name) => actors.may(actor, verb, kind, this.#here(name)),
        decision: `${this.#cleaner.metadata.uid}/${this.#record.evaluatedAt}`,
        progress: () => this.#record.helm?.hooks ?? {},
        note: (hooks) => this.#note({ ...this.#record, helm: { ...this.#record.helm!, hooks } }),
      }),
    });
    if (this.#lost) return again('changed while deleting');
    return this.#afterUninstall(helm.release, result);
  }

  #afterUninstall(release: string, result: Uninstalled): Promise<Outcome> | Outcome | undefined {
    switch (result.kind) {
      case 'done':
        this.#tellUninstalled(release, result);
        return undefined;
      case 'busy':
        return this.#stuck(
          'HelmOperationInProgress',
          `the release ${release} is ${result.status}`,
          result.until,
        );
      case 'failed':
        return this.#stuck('HelmUninstallFailed', `the release ${release}: ${result.why}`);
      case 'changed':
        return this.#giveRelease(release, result.why);
      case 'waiting':
        return waitUntil(result.until, result.why);
      default:
        return assertNever(result);
    }
  }

  #tellUninstalled(release: string, { removed, left }: Extract<Uninstalled, { kind: 'done' }>): void {
    const stays = left.length === 0 ? '' : `; left in place: ${left.slice(0, 10).join(', ')}`;
    const note = `the release ${release} was uninstalled, ${removed} objects deleted${stays}`;
    this.#pass.event(this.#cleaner, {
      type: left.length === 0 ? 'Normal' : 'Warning',
      reason: 'HelmReleaseUninstalled',
      action: 'Delete',
      note,
    });
  }

  /** Somebody wants the release: it is theirs, and a new decision is needed to delete it. */
  async #giveRelease(release: string, why: string): Promise<Outcome> {
    const message = `the release ${release} was left: ${why}`;
    const until = plus(this.#pass.now, retryOf(this.#cleaner));
    const report: Report = { reason: 'HelmUninstallFailed', message, next: until };
    const written = await writeStatus(this.#pass, this.#cleaner, report);
    return written.kind === 'lost' ? again('changed while deleting') : this.#hold(until, 'release changed');
  }

  /**
   * Something that a person has to put right. While nothing has been deleted the decision is given up with it: by the time
   * it is right, the conditions may be false again.
   */
  async #stuck(reason: Report['reason'], message: string, at?: Instant): Promise<Outcome> {
    const until = at ?? plus(this.#pass.now, retryOf(this.#cleaner));
    const begun = this.#record.startedAt !== undefined;
    const report: Report = begun
      ? { ...this.#kept(), reason, message, deletion: this.#record }
      : { reason, message, next: until };
    const written = await writeStatus(this.#pass, this.#cleaner, report);
    return written.kind === 'lost' ? again('changed while deleting') : this.#hold(until, 'stuck');
  }

  #hold(until: Instant, why: string): Outcome {
    const { uid = '', generation = 1 } = this.#cleaner.metadata;
    this.#context.holds.set(memoKey(this.#pass.key), { uid, generation, until, why });
    return waitUntil(until, why);
  }

  /** The last step, guarded like every deletion: if the Cleaner changed meanwhile, it is read and judged again. */
  async #deleteSelf(): Promise<Outcome> {
    const { evaluatedAt } = this.#record;
    const since = parseTime(evaluatedAt);
    const deletion = await this.#context.deletes.delete(this.#pass, {
      kind: Cleaner,
      object: this.#cleaner,
      since,
      decide: (live) =>
        live.status?.deletion?.evaluatedAt === evaluatedAt && live.metadata.deletionTimestamp === undefined
          ? { kind: 'delete', since }
          : { kind: 'keep', verdict: undefined },
      propagation: 'Background',
    });
    if (deletion.kind === 'deleted') this.#context.metrics.deleted('cleaner');
    return outcomeOf(deletion, settled);
  }
}

const describe = ({ resource, name }: RecordedTarget) => `${resource} ${name}`;
