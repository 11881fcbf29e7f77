// Every decision about a keeper: what its spec asks for, and what follows from what became of the object it follows. Pure.

import { assertNever } from '@lapse/base/assertNever';
import {
  formatEnd,
  formatTime,
  type Instant,
  isDue,
  type Millis,
  minutes,
  parseTime,
  plus,
} from '@lapse/base/instant';
import { checkPathSegment } from '@lapse/kube/api/names';
import { parseApiVersion } from '@lapse/kube/api/object';
import type { FollowObjectRef, ObjectKeeper } from '#api/objectKeeper';
import { KeeperReason } from '#api/storage/conditions';
import { readDuration } from '#deletion/duration';
import { HOLD } from '#deletion/skewGuard';
import { type Say, statusOf } from './status.ts';

/** What a keeper's spec asks for. */
export type Rule =
  | { readonly kind: 'ttl'; readonly length: Millis }
  /** `after`: how long it stays when the object is gone; unset: not at all. */
  | {
      readonly kind: 'follow';
      readonly ref: FollowObjectRef;
      readonly group: string;
      readonly version: string;
      readonly after?: Millis;
    }
  | { readonly kind: 'invalid'; readonly reason: KeeperReason; readonly message: string };

const invalid = (reason: KeeperReason, message: string): Rule => ({ kind: 'invalid', reason, message });

export function computeRule({ spec = {} }: ObjectKeeper): Rule {
  const { mode, followObjectRef: ref, ttl } = spec;
  const length = mode === 'FollowObject' ? undefined : readTtl(ttl);
  if (length !== undefined && typeof length !== 'number') return length;
  if (mode === 'TTL') return { kind: 'ttl', length: length! };
  if (ref === undefined)
    return invalid(KeeperReason.MissingFollowObjectRef, 'spec.followObjectRef is missing');
  if (ref.kind === '' || ref.name === '' || ref.uid === '')
    return invalid(
      KeeperReason.MissingFollowObjectRef,
      'spec.followObjectRef needs a kind, a name and a uid',
    );
  for (const part of [ref.name, ref.namespace ?? ''])
    if (checkPathSegment(part).length > 0)
      return invalid(
        KeeperReason.MissingFollowObjectRef,
        `spec.followObjectRef: nothing can be called ${JSON.stringify(part)}`,
      );
  const parsed = parseApiVersion(ref.apiVersion);
  if (parsed === undefined || parsed.version === '')
    return invalid(
      KeeperReason.InvalidAPIVersion,
      `spec.followObjectRef.apiVersion ${ref.apiVersion} is none`,
    );
  return { kind: 'follow', ref, ...parsed, ...(length === undefined ? {} : { after: length }) };
}

function readTtl(text: string | undefined): Millis | Rule {
  if (text === undefined) return invalid(KeeperReason.MissingTTL, 'spec.ttl is missing');
  const parsed = readDuration(text);
  if (parsed.kind === 'invalid') return invalid(KeeperReason.InvalidTTL, `spec.ttl: ${parsed.error}`);
  return parsed.length < 0 ? invalid(KeeperReason.InvalidTTL, `spec.ttl ${text} is negative`) : parsed.length;
}

/** What became of the followed object. */
export type Followed =
  | { readonly kind: 'exists' }
  /** Gone for certain: `why` says how that is known. */
  | { readonly kind: 'lost'; readonly why: string }
  /** Nobody can tell; whoever cannot tell keeps. */
  | { readonly kind: 'unclear'; readonly reason: KeeperReason; readonly message: string };

export type Plan =
  | { readonly kind: 'keep'; readonly status: NonNullable<ObjectKeeper['status']>; readonly until?: Instant }
  /** Nothing is written while the server's time is not known. */
  | { readonly kind: 'wait'; readonly until: Instant }
  | { readonly kind: 'delete'; readonly since: Instant };

/** Asked this often where no watch tells. */
const POLL = minutes(1);

export interface View {
  readonly keeper: ObjectKeeper;
  readonly now: Instant;
  /** Nothing wakes us when the followed object changes. */
  readonly blind: boolean;
  /** The time to write down for a loss, where `startsCounting`; unset: the clocks are not good. */
  readonly stamp?: Instant | undefined;
}

/** A loss that is not written down yet, and whose time is what a TTL counts from. */
export const startsCounting = (
  rule: Rule,
  followed: Followed | undefined,
  { status }: ObjectKeeper,
): boolean =>
  rule.kind === 'follow' &&
  rule.after !== undefined &&
  followed?.kind === 'lost' &&
  status?.lostAt === undefined;

export function computePlan(rule: Rule, followed: Followed | undefined, view: View): Plan {
  switch (rule.kind) {
    case 'invalid':
      return keep(view, { phase: 'Pending', active: 'False', reason: rule.reason, message: rule.message });
    case 'ttl':
      return computeTtl(rule.length, view);
    case 'follow':
      return computeFollow(rule.after, followed!, view);
    default:
      return assertNever(rule);
  }
}

function computeTtl(length: Millis, view: View): Plan {
  const at = plus(parseTime(view.keeper.metadata.creationTimestamp ?? ''), length);
  if (isDue(at, view.now)) return { kind: 'delete', since: at };
  const message = `ends at ${formatEnd(at)}`;
  return keep(view, { phase: 'Expiring', active: 'True', reason: KeeperReason.TTLActive, message }, at);
}

function computeFollow(after: Millis | undefined, followed: Followed, view: View): Plan {
  const poll = view.blind ? plus(view.now, POLL) : undefined;
  switch (followed.kind) {
    case 'exists': {
      const message = 'the followed object exists';
      return keep(
        view,
        { phase: 'Tracking', active: 'True', reason: KeeperReason.ObjectExists, message },
        poll,
      );
    }
    case 'unclear': {
      const { reason, message } = followed;
      const phase = view.keeper.status?.phase ?? 'Pending';
      const lostAt = view.keeper.status?.lostAt;
      const say: Say = {
        phase,
        active: 'Unknown',
        reason,
        message,
        ...(lostAt === undefined ? {} : { lostAt }),
      };
      return keep(view, say, plus(view.now, POLL));
    }
    case 'lost':
      return after === undefined
        ? { kind: 'delete', since: view.now }
        : computeLost(after, followed.why, view);
    default:
      return assertNever(followed);
  }
}

/** The countdown starts when the loss was found, which is written down: a restart does not start it again. */
function computeLost(after: Millis, why: string, view: View): Plan {
  const written = view.keeper.status?.lostAt;
  if (written === undefined && view.stamp === undefined) return { kind: 'wait', until: plus(view.now, HOLD) };
  const lostAt = written ?? formatTime(view.stamp!);
  const at = plus(parseTime(lostAt), after);
  if (written !== undefined && isDue(at, view.now)) return { kind: 'delete', since: at };
  const message = `${why}; ends at ${formatEnd(at)}`;
  const reason = KeeperReason.MissingFollowObject;
  return keep(view, { phase: 'Expiring', active: 'False', reason, message, lostAt, counting: true }, at);
}

const keep = (view: View, say: Say, until?: Instant): Plan => ({
  kind: 'keep',
  status: statusOf(view.keeper, say, view.now),
  ...(until === undefined ? {} : { until }),
});
