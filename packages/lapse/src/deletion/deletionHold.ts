// Holds deletions while the clocks are not trusted or a budget is exhausted.

import { type Millis, plus, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { type Budget, claimAll } from './budget.ts';
import type { Deletion, HeldBecause } from './deletion.ts';
import { regarding } from './deletionCounter.ts';
import { isDry, uidOf } from './deletionTarget.ts';
import { type ClockState, describeClock, type SkewGuard } from './skewGuard.ts';

interface HoldTarget {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly dryRun?: boolean;
  readonly budget?: Budget;
}

const HOLD: Millis = seconds(30);

export class DeletionHold {
  readonly #options: { readonly guard: SkewGuard; readonly budget?: Budget };
  /** The clock state that was reported last. */
  #reported: ClockState['kind'] = 'good';

  constructor(options: { readonly guard: SkewGuard; readonly budget?: Budget }) {
    this.#options = options;
  }

  /** Returns undefined if the object may be deleted now. Claims the budgets, unless it is a dry run. */
  async check(ctx: ReconcileContext, target: HoldTarget): Promise<Deletion | undefined> {
    const clocks = await this.#options.guard.check();
    if (clocks.kind !== 'good') return this.#hold(ctx, target, clocks);
    this.#reported = 'good';
    if (isDry(ctx, target)) return undefined;
    const claim = claimAll([target.budget, this.#options.budget], uidOf(target.object), ctx.now);
    return claim.kind === 'go' ? undefined : { kind: 'held', until: claim.until, because: 'budget' };
  }

  /** Reports once per hold and cause, on the first affected object. The metrics show how long the hold lasts. */
  #hold(
    ctx: ReconcileContext,
    { kind, object }: HoldTarget,
    clocks: Exclude<ClockState, { kind: 'good' }>,
  ): Deletion {
    const because: HeldBecause = clocks.kind === 'unknown' ? 'clock unknown' : 'clock skew';
    if (this.#reported !== clocks.kind) {
      this.#reported = clocks.kind;
      const note = describeClock(clocks, this.#options.guard.maxSkew)!;
      ctx.event(regarding(kind, object), {
        type: 'Warning',
        reason: 'DeletionHeld',
        action: 'Delete',
        note,
      });
      ctx.log.warn({ because: note }, 'deletions are held');
    }
    return { kind: 'held', until: plus(ctx.now, HOLD), because };
  }
}
