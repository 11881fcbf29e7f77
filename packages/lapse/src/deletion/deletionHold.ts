// Holds deletions while the clocks are not trusted or a budget is exhausted.

import { plus } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { type Budget, claimAll } from './budget.ts';
import { type Deletion, type DeletionTarget, isDry, uidOf } from './deletion.ts';
import { emitEvent } from './deletionCounter.ts';
import { type ClockState, describeClock, HOLD, type SkewGuard } from './skewGuard.ts';

type HoldTarget = Pick<DeletionTarget<KubeObject, unknown>, 'kind' | 'object' | 'dryRun' | 'budget'>;

export class DeletionHold {
  readonly #options: { readonly guard: SkewGuard; readonly budget?: Budget };
  /** The clock state that was reported last. */
  #reported: ClockState['kind'] = 'good';

  constructor(options: { readonly guard: SkewGuard; readonly budget?: Budget }) {
    this.#options = options;
  }

  /** Returns undefined if the object may be deleted now. Claims the budgets, unless it is a dry run. */
  async check(ctx: ReconcileContext, target: HoldTarget): Promise<Deletion | undefined> {
    const { guard, budget } = this.#options;
    const clocks = await guard.check();
    // Reported once per hold and cause, on the first affected object. The metrics show how long the hold lasts.
    if (this.#reported !== clocks.kind) this.#report(ctx, target, clocks);
    if (clocks.kind !== 'good')
      return {
        kind: 'held',
        until: plus(ctx.now, HOLD),
        because: clocks.kind === 'unknown' ? 'clock unknown' : 'clock skew',
      };
    if (isDry(ctx, target)) return undefined;
    const claim = claimAll([target.budget, budget], uidOf(target.object), ctx.now);
    return claim.kind === 'go' ? undefined : { kind: 'held', until: claim.until, because: 'budget' };
  }

  #report(ctx: ReconcileContext, target: HoldTarget, clocks: ClockState): void {
    this.#reported = clocks.kind;
    const note = describeClock(clocks, this.#options.guard.maxSkew);
    if (note === undefined) return;
    emitEvent(ctx, target, 'Warning', 'DeletionHeld', note);
    ctx.log.warn({ because: note }, 'deletions are held');
  }
}
