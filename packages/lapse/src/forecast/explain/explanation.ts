// What `lapse explain` finds out about one object. The text and the documents for programs show this one value.

import type { Instant } from '@lapse/base/instant';
import type { Propagation } from '@lapse/kube/client/delete';
import type { ObjectName } from '#controllers/foresight';
import type { Taken } from '../plan.ts';

/** What one rule says about the object. */
export interface Opinion {
  /** As in `--controllers`. */
  readonly family: string;
  readonly rule: string;
  readonly says: 'ends' | 'held' | 'stays' | 'changes';
  readonly because: string;
  readonly at?: Instant;
  readonly propagation?: Propagation;
  /** Set: nobody acts on this rule, and this is how it is switched on. */
  readonly off?: string;
}

export type Verdict =
  /** A rule ends it. */
  | { readonly kind: 'ends'; readonly at: Instant; readonly by: Opinion }
  /** Something else ends, and takes it along. */
  | {
      readonly kind: 'goesWith';
      readonly at: Instant;
      readonly what: ObjectName;
      /** `lost`: the owner is gone already. */
      readonly how: 'owner' | 'lost' | 'namespace';
      readonly because: string;
    }
  /** It was deleted already, and is still there. */
  | { readonly kind: 'lingers'; readonly since: Instant; readonly finalizers: readonly string[] }
  /** A rule means it, and something keeps the rule from acting. */
  | { readonly kind: 'held'; readonly by: Opinion }
  | { readonly kind: 'changes'; readonly at: Instant; readonly by: Opinion }
  /** A rule looked at it and leaves it alone. */
  | { readonly kind: 'stays'; readonly by: Opinion }
  | { readonly kind: 'unruled' };

/** What a rule of its own (a policy, a Cleaner) does to others. */
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
  /** Of rules that are acted on, other than the one that decides. */
  readonly also: readonly Opinion[];
  /** What rules would say that nobody acts on. */
  readonly off: readonly Opinion[];
  /** An owner that stays: the garbage collector leaves alone what has one. */
  readonly keeper?: ObjectName;
  /** Of others: it stays after its deletion until they are gone. */
  readonly finalizers: readonly string[];
  /** For a policy or a Cleaner: what it does to others. */
  readonly deeds?: readonly Deed[];
  /** What the garbage collector takes along, where that was asked for. */
  readonly takes?: { readonly named: readonly Taken[]; readonly more: number };
  /** What somebody might want to do now, each with its command. */
  readonly next: readonly { readonly what: string; readonly command?: string }[];
  /** What could not be read, in words: nothing is said about it. */
  readonly unread: readonly string[];
}
