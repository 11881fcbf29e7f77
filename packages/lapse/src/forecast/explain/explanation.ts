// The result of `lapse explain` for one object. Text and structured output show this value.

import type { Instant } from '@lapse/base/instant';
import type { Propagation } from '@lapse/kube/client/delete';
import type { ObjectName, StatementReason } from '#controllers/forecaster';
import type { Dependent } from '../plan.ts';

/** The ruleDecision of one rule about the object. */
export interface RuleDecision {
  /** The name in `--controllers`. */
  readonly family: string;
  readonly rule: string;
  readonly says: 'deleted' | 'held' | 'kept' | 'changes';
  /** All policies that were evaluated for the object, if `rule` does not name all of them. */
  readonly policies?: readonly string[];
  readonly because: string;
  readonly reason?: StatementReason;
  readonly at?: Instant;
  readonly propagation?: Propagation;
  /** Set if the rule is disabled: how to enable it. */
  readonly enableWith?: string;
}

export type Decision =
  /** A rule deletes it. */
  | { readonly kind: 'deleted'; readonly at: Instant; readonly by: RuleDecision }
  /** It is deleted together with another object. */
  | {
      readonly kind: 'deletedWith';
      readonly at: Instant;
      readonly what: ObjectName;
      /** `lost`: the owner no longer exists. */
      readonly how: 'owner' | 'lost' | 'namespace';
      readonly because: string;
    }
  /** It is terminating. */
  | { readonly kind: 'terminating'; readonly since: Instant; readonly finalizers: readonly string[] }
  /** A rule would delete it, but something blocks the rule. */
  | { readonly kind: 'held'; readonly by: RuleDecision }
  | { readonly kind: 'changes'; readonly at: Instant; readonly by: RuleDecision }
  /** A rule was evaluated and keeps it. */
  | { readonly kind: 'kept'; readonly by: RuleDecision }
  | { readonly kind: 'noRule' };

/** The effect of a policy or a Cleaner on another object. */
export interface Action {
  readonly object: ObjectName;
  readonly says: 'deleted' | 'held' | 'kept';
  readonly at?: Instant;
  readonly because: string;
}

export interface Explanation {
  readonly object: ObjectName;
  readonly now: Instant;
  readonly decision: Decision;
  /** Decisions of active rules other than the deciding one. */
  readonly also: readonly RuleDecision[];
  /** Decisions of disabled rules. */
  readonly disabled: readonly RuleDecision[];
  /** An owner that is kept: the garbage collector keeps its dependents. */
  readonly keeper?: ObjectName;
  /** Foreign finalizers: the object is terminating until they are removed. */
  readonly finalizers: readonly string[];
  /** For a policy or a Cleaner: its effects on other objects. */
  readonly actions?: readonly Action[];
  /** What the garbage collector deletes with it, if requested. */
  readonly dependents?: { readonly named: readonly Dependent[]; readonly more: number };
  /** Possible next steps, each with its command. */
  readonly next: readonly { readonly what: string; readonly command?: string }[];
  /** What could not be read, as messages. The explanation does not cover it. */
  readonly unread: readonly string[];
}
