// The decisions about a keeper: what its spec requests, and what follows from the state of the followed object. Pure.

import { assertNever } from '@lapse/base/assertNever';
import { readDuration } from '@lapse/base/duration';
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
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { FollowObjectRef, ObjectKeeper } from '#api/objectKeeper';
import { KeeperReason } from '#api/storage/conditions';
import { HOLD } from '#deletion/skewGuard';
import { type StatusContent, statusOf } from './status.ts';

/** What the spec of a keeper requests. */
export type Rule =
  | { readonly kind: 'ttl'; readonly length: Millis }
  /** `after`: how long the keeper is kept after the loss of the object; unset: it is deleted at once. */
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
        `spec.followObjectRef: ${JSON.stringify(part)} is not a valid name`,
      );
  const parsed = parseApiVersion(ref.apiVersion);
  if (parsed === undefined || parsed.version === '')
    return invalid(
      KeeperReason.InvalidAPIVersion,
      `spec.followObjectRef.apiVersion ${ref.apiVersion} is invalid`,
    );
  return { kind: 'follow', ref, ...parsed, ...(length === undefined ? {} : { after: length }) };
}

function readTtl(text: string | undefined): Millis | Rule {
  if (text === undefined) return invalid(KeeperReason.MissingTTL, 'spec.ttl is missing');
  const parsed = readDuration(text);
  if (parsed.kind === 'invalid') return invalid(KeeperReason.InvalidTTL, `spec.ttl: ${parsed.error}`);
  return parsed.length < 0 ? invalid(KeeperReason.InvalidTTL, `spec.ttl ${text} is negative`) : parsed.length;
}

/** The state of the followed object. */
export type Followed =
  | { readonly kind: 'exists' }
  /** The object is certainly gone; `why` contains the evidence. */
  | { readonly kind: 'lost'; readonly why: string }
  /** The state cannot be determined: the keeper is kept. */
  | { readonly kind: 'unclear'; readonly reason: KeeperReason; readonly message: string };

/** Whether a CRD was created before or after a keeper. */
export function computeOrder(crd: KubeObject, keeper: ObjectKeeper): 'before' | 'same second' | 'after' {
  const createdAt = parseTime(crd.metadata.creationTimestamp ?? '');
  const kept = parseTime(keeper.metadata.creationTimestamp ?? '');
  if (createdAt > kept) return 'after';
  return createdAt === kept ? 'same second' : 'before';
}

export type Plan =
  | { readonly kind: 'keep'; readonly status: NonNullable<ObjectKeeper['status']>; readonly until?: Instant }
  /** Nothing is written while the API server's time is unknown. */
  | { readonly kind: 'wait'; readonly until: Instant }
  | { readonly kind: 'delete'; readonly since: Instant };

/** The polling interval without a watch. */
const POLL = minutes(1);

export interface View {
  readonly keeper: ObjectKeeper;
  readonly now: Instant;
  /** No watch reports changes of the followed object. */
  readonly blind: boolean;
  /** The timestamp to write for a loss, if `startsCounting`; unset if the clocks are not trusted. */
  readonly stamp?: Instant | undefined;
}

/** Whether a loss is not recorded yet and a TTL counts from it. */
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
      const content: StatusContent = {
        phase,
        active: 'Unknown',
        reason,
        message,
        ...(lostAt === undefined ? {} : { lostAt }),
      };
      return keep(view, content, plus(view.now, POLL));
    }
    case 'lost':
      return after === undefined
        ? { kind: 'delete', since: view.now }
        : computeLost(after, followed.why, view);
    default:
      return assertNever(followed);
  }
}

/** The TTL starts when the loss is found. That time is recorded, so that a restart does not start it again. */
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

const keep = (view: View, content: StatusContent, until?: Instant): Plan => ({
  kind: 'keep',
  status: statusOf(view.keeper, content, view.now),
  ...(until === undefined ? {} : { until }),
});
