// The result of `lapse explain` for one object. Text and structured output show this value.

import type { Instant } from '@lapse/base/instant';
import type { Propagation } from '@lapse/kube/client/delete';
import type { ObjectName, StatementReason } from '#controllers/forecaster';
import type { Taken } from '../plan.ts';

/** The decision of one rule about the object. */
export interface Opinion {
  /** The name in `--controllers`. */
  readonly family: string;
  readonly rule: string;
  readonly says: 'ends' | 'held' | 'stays' | 'changes';
  /** All policies that were evaluated for the object, if `rule` does not name all of them. */
  readonly policies?: readonly string[];
  readonly because: string;
  readonly reason?: StatementReason;
  readonly at?: Instant;
  readonly propagation?: Propagation;
  /** Set if the rule is disabled: how to enable it. */
  readonly off?: string;
}

export type Verdict =
  /** A rule deletes it. */
  | { readonly kind: 'ends'; readonly at: Instant; readonly by: Opinion }
  /** It is deleted together with another object. */
  | {
      readonly kind: 'goesWith';
      readonly at: Instant;
      readonly what: ObjectName;
      /** `lost`: the owner no longer exists. */
      readonly how: 'owner' | 'lost' | 'namespace';
      readonly because: string;
    }
  /** It is terminating. */
  | { readonly kind: 'lingers'; readonly since: Instant; readonly finalizers: readonly string[] }
  /** A rule would delete it, but something blocks the rule. */
  | { readonly kind: 'held'; readonly by: Opinion }
  | { readonly kind: 'changes'; readonly at: Instant; readonly by: Opinion }
  /** A rule was evaluated and keeps it. */
  | { readonly kind: 'stays'; readonly by: Opinion }
  | { readonly kind: 'unruled' };

/** The effect of a policy or a Cleaner on another object. */
export interface Deed {
  readonly object: ObjectName;
  readonly says: 'ends' | 'held' | 'stays';
  readonly at?: Instant;
  readonly because: string;
}

export interface Explanation {
  readonly object: ObjectName;
  readonly now: Instant;
  readonly verdict: Verdict;
  /** Decisions of active rules other than the deciding one. */
  readonly also: readonly Opinion[];
  /** Decisions of disabled rules. */
  readonly off: readonly Opinion[];
  /** An owner that is kept: the garbage collector keeps its dependents. */
  readonly keeper?: ObjectName;
  /** Foreign finalizers: the object is terminating until they are removed. */
  readonly finalizers: readonly string[];
  /** For a policy or a Cleaner: its effects on other objects. */
  readonly deeds?: readonly Deed[];
  /** What the garbage collector deletes with it, if requested. */
  readonly takes?: { readonly named: readonly Taken[]; readonly more: number };
  /** Possible next steps, each with its command. */
  readonly next: readonly { readonly what: string; readonly command?: string }[];
  /** What could not be read, as messages. The explanation does not cover it. */
  readonly unread: readonly string[];
}
