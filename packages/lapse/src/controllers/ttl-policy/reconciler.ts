// The state and the reconciles that both controllers share: the policies, the deletions of their targets, and the metrics.

import type { ControllerDefinition, Right } from '@lapse/runtime/definition';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { AuthorSeal } from '#authors/authorSeal';
import { AUTHOR_IMPERSONATION, type ImpersonationScope } from '#authors/impersonation';
import { afterDeadline } from '#deletion/deletionCounter';
import { Expirer } from '#deletion/expirer';
import type { SentDelete } from '#deletion/ownDeletions';
import type { Origin } from '#deletion/trash';
import type { LimitsConfiguration } from '#limits/configuration';
import type { Services } from '../family.ts';
import { describeDecisions } from './decide.ts';
import { readLive } from './gather.ts';
import { parseWaking } from './keys.ts';
import { policyMetrics } from './metrics.ts';
import { metricKind, Policies } from './policies.ts';
import { policyKinds } from './policyIndex.ts';
import { type ExpiredTarget, TargetReconciler } from './reconcile.ts';
import { reconcilePolicy } from './reconcilePolicy.ts';

export interface TtlPolicyOptions {
  readonly services: Services;
  readonly seal: AuthorSeal;
  readonly concurrency: number;
  readonly deletionEvents: boolean;
  readonly impersonation: ImpersonationScope;
  readonly limits: LimitsConfiguration;
}

export interface Reconciler
  extends Required<Pick<ControllerDefinition, 'reconcile' | 'onPause' | 'onStandby'>> {
  readonly policies: Policies;
  readonly within: { readonly namespace?: string };
  readonly authorRights: readonly Right[];
}

const NAME = 'ttl-policy';

const originOf = ({ because: { decisions, by } }: SentDelete<ExpiredTarget>): Origin => ({
  rule: by.name,
  ...(by.author === undefined ? {} : { author: by.author }),
  reason: describeDecisions(decisions),
  isFinished: by.finish.kind !== 'created',
});

export function createReconciler(options: TtlPolicyOptions): Reconciler {
  const { services, seal, deletionEvents, impersonation, limits } = options;
  const { clock, client, guard, registry, actAs, impersonate, impersonateAuthor, namespace } = services;
  const asAuthor = impersonateAuthor !== undefined;
  const within = namespace === undefined ? {} : { namespace };
  const policies = new Policies({
    clock,
    client: services.acting ?? client,
    impersonate,
    ...(asAuthor ? { impersonateAuthor } : {}),
    limits,
  });
  const metrics = policyMetrics(registry, NAME, policies, () => guard.now());
  const expirer = new Expirer<ExpiredTarget>({
    clock,
    guard,
    metrics: metrics.deletion,
    read: readLive,
    deletionEvents,
    describe: ({ because: { decisions, by }, lag }) =>
      `${describeDecisions(decisions)}; deleted ${afterDeadline(lag)} by ${by.name}`,
    origin: originOf,
    onDeleted(deleted) {
      const { kind, records } = deleted.because.by;
      metrics.deleted(metricKind(kind), deleted);
      if (deleted.outcome !== 'wouldDelete') records.countDeleted();
    },
    ...services.deletion?.(NAME),
  });
  const tolerance = guard.maxSkew;
  const targets = new TargetReconciler({
    policies,
    expirer,
    metrics,
    kinds: policyKinds(namespace),
    tolerance,
  });
  const policyOptions = { policies, client, actAs, seal, impersonation, asAuthor, ...within };
  return {
    policies,
    within,
    authorRights: asAuthor ? AUTHOR_IMPERSONATION : [],
    onPause() {
      policies.isActing = false;
      expirer.pause();
    },
    onStandby: () => policies.standBy(),
    reconcile(ctx: ReconcileContext) {
      policies.isActing = true;
      expirer.resume();
      const waking = parseWaking(ctx.key);
      return waking.kind === 'policy'
        ? reconcilePolicy(ctx, waking, policyOptions)
        : targets.reconcile(ctx, waking);
    },
  };
}
