// Carries out a recorded decision: deletes the targets by uid, uninstalls the Helm release, and deletes the Cleaner
// last. Every reconcile starts from the record, so after a crash the same steps are repeated. They are idempotent.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, type Millis, millis, minutes, parseTime, plus } from '@lapse/base/instant';
import { again, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner, type DeletionRecord, type RecordedTarget } from '#api/cleaner';
import type { AuthorizedClient } from '#authors/authorizedClient';
import { outcomeOf } from '#deletion/deletion';
import { RecordedDeletes } from '#deletion/recordedDeletes';
import { describeNotSaved } from '#deletion/trash';
import { describeDone, describeIncomplete } from '#helm/messages';
import type { ReleaseKey } from '#helm/ownership';
import { type Uninstalled, uninstall } from '#helm/uninstall';
import { type Context, generationOf } from './context.ts';
import type { DeletedWhat } from './metrics.ts';
import type { Progress } from './progress.ts';
import { isLastDecision, kindOf } from './record.ts';
import { type Meaning, understand } from './spec.ts';
import { keptOf, type Report, writeStatus } from './status.ts';

export const DEFAULT_RETRY: Millis = minutes(5);

/** The spec may have become invalid after the decision. */
function meaningOf(cleaner: Cleaner): Partial<Meaning> {
  const understood = understand(cleaner);
  return understood.kind === 'meaning' ? understood.meaning : {};
}

/** When to retry a problem that the user has to fix. */
const retryOf = (cleaner: Cleaner): Millis =>
  millis(Math.min(meaningOf(cleaner).period ?? DEFAULT_RETRY, DEFAULT_RETRY));

export class Deletion {
  readonly #ctx: ReconcileContext;
  readonly #context: Context;
  readonly #progress: Progress;

  constructor(ctx: ReconcileContext, context: Context, progress: Progress) {
    this.#ctx = ctx;
    this.#context = context;
    this.#progress = progress;
  }

  get #cleaner(): Cleaner {
    return this.#progress.cleaner;
  }

  get #record(): DeletionRecord {
    return this.#progress.record;
  }

  /** Carries out a record that this reconcile has written or resume.ts has checked. */
  async carryOut(client: AuthorizedClient): Promise<Outcome> {
    this.#progress.client = client;
    const { expirer, budget } = this.#context;
    const deletes = new RecordedDeletes<DeletedWhat>({
      ctx: this.#ctx,
      expirer,
      client: client.client,
      ...(budget === undefined ? {} : { budget }),
      decidedFor: { kind: Cleaner, uid: this.#cleaner.metadata.uid },
      since: parseTime(this.#record.evaluatedAt),
      mayDelete: () => this.#progress.mayDelete(),
    });
    return (
      (await this.#deleteTargets(client, deletes)) ??
      (await this.#uninstall(client, deletes)) ??
      this.#deleteSelf()
    );
  }

  get #namespace(): string {
    return this.#ctx.key.namespace ?? '';
  }

  async #deleteTargets(
    client: AuthorizedClient,
    deletes: RecordedDeletes<DeletedWhat>,
  ): Promise<Outcome | undefined> {
    const done = this.#progress.done().uids;
    for (const target of this.#record.targets) {
      if (done.has(target.uid)) continue;
      const { name, uid } = target;
      const key = { namespace: this.#namespace, name };
      const refusal = await client.refusalTo('delete', kindOf(target), key);
      if (refusal !== undefined) return this.stuck('Forbidden', refusal);
      const deletion = await deletes.delete(kindOf(target), { ...key, uid }, 'target');
      switch (deletion.kind) {
        case 'deleted':
        case 'gone':
        case 'changed':
          // An object that is gone may have been deleted by an earlier request of Lapse that was not noted.
          await this.#progress.noteStart();
          break;
        case 'forbidden':
          return this.stuck('Forbidden', deletion.why);
        case 'refused':
          return this.stuck('Forbidden', `${describe(target)} could not be deleted: ${deletion.why}`);
        case 'held':
          return this.#held(deletion, describe(target));
        case 'unwanted':
          return this.#progress.lost ? again('changed while deleting') : settled();
        default:
          return assertNever(deletion);
      }
      done.add(uid);
      if (this.#progress.lost) return again('changed while deleting');
    }
    return undefined;
  }

  /** `why` is set if the object could not be saved; otherwise it waits for the budget. */
  #held(
    { until, why }: { readonly until: Instant; readonly why?: string },
    what: string,
  ): Promise<Outcome> | Outcome {
    return why === undefined
      ? waitUntil(until, 'held: budget')
      : this.stuck('SaveFailed', `${what} was ${describeNotSaved(why)}`, until);
  }

  async #uninstall(
    client: AuthorizedClient,
    deletes: RecordedDeletes<DeletedWhat>,
  ): Promise<Outcome | undefined> {
    const { helm: record, evaluatedAt } = this.#record;
    if (record === undefined) return undefined;
    const { options, client: own } = this.#context;
    const release = { name: record.release, namespace: this.#namespace };
    const result = await uninstall({
      release,
      record,
      client,
      deletes,
      discovery: own.discovery,
      progress: this.#progress,
      now: this.#ctx.now,
      except: { ...Cleaner, name: this.#ctx.key.name },
      purgeIncomplete: options.helmPurgeIncomplete,
      hooks: {
        enabled: options.helmHooks === 'run',
        timeout: options.helmHookTimeout,
        decision: `${this.#cleaner.metadata.uid}/${evaluatedAt}`,
      },
    });
    if (this.#progress.lost) return again('changed while deleting');
    return this.#afterUninstall(release, result);
  }

  async #afterUninstall(release: ReleaseKey, result: Uninstalled): Promise<Outcome | undefined> {
    switch (result.kind) {
      case 'done':
        this.#announceUninstalled(release, result);
        return undefined;
      case 'busy':
        return this.stuck(
          'HelmOperationInProgress',
          `the release ${release.name} is ${result.status}`,
          result.until,
        );
      case 'incomplete':
        return this.stuck('HelmUninstallIncomplete', describeIncomplete(release, result));
      case 'failed':
        return this.stuck('HelmUninstallFailed', `the release ${release.name}: ${result.why}`);
      case 'changed':
        return this.#giveRelease(release.name, result.why);
      case 'unwanted':
        return settled();
      case 'waiting':
        return waitUntil(result.until, result.why);
      default:
        return assertNever(result);
    }
  }

  /** Emits an Event, once per decision and process. */
  #announceUninstalled(release: ReleaseKey, result: Extract<Uninstalled, { kind: 'done' }>): void {
    const done = this.#progress.done();
    if (done.reported) return;
    done.reported = true;
    const type = result.left.length === 0 ? 'Normal' : 'Warning';
    const note = describeDone(release, result);
    this.#ctx.event(this.#cleaner, { type, reason: 'HelmReleaseUninstalled', action: 'Delete', note });
  }

  /** The release was changed meanwhile. It is kept, and a new decision is needed to delete it. */
  async #giveRelease(release: string, why: string): Promise<Outcome | undefined> {
    const message = `the release ${release} was left: ${why}`;
    if (isLastDecision(this.#record, meaningOf(this.#cleaner).targets ?? []))
      return this.#goWithoutRelease(message);
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
    const note = `${message}; the objects that the conditions read are deleted, so the Cleaner is deleted without uninstalling it`;
    this.#ctx.event(this.#cleaner, { type: 'Warning', reason: 'HelmReleaseLeft', action: 'Delete', note });
    const { helm: _helm, ...rest } = this.#record;
    return (await this.#progress.note(rest)) === 'stop' ? again('changed while deleting') : undefined;
  }

  /**
   * A problem that the user has to fix. If nothing has been deleted yet, the decision is discarded: the conditions
   * may be false again by the time the problem is fixed.
   */
  async stuck(reason: Report['reason'], message: string, at?: Instant): Promise<Outcome> {
    const until = at ?? plus(this.#ctx.now, retryOf(this.#cleaner));
    const report: Report = (await this.#progress.hasBegun())
      ? {
          ...keptOf(this.#cleaner),
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
    const basis = String(generationOf(this.#cleaner));
    return this.#context.holds.set(this.#cleaner, { basis, until, why }, this.#ctx.now);
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
          : { kind: 'keep', because: undefined },
      propagation: 'Background',
    });
    if (deletion.kind === 'held' && deletion.because === 'trash') return this.#held(deletion, 'the Cleaner');
    return outcomeOf(deletion, () => again('changed while deleting'));
  }
}

const describe = ({ resource, name }: RecordedTarget) => `${resource} ${name}`;
