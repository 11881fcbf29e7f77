// The fields to change when a user asks to extend the deadline of an object, to keep it, or to release it. Pure. A change is a proposal:
// changeObject.ts explains the changed object and sends the patch only if the rules honor it.

import { formatGoDuration } from '@lapse/base/goDuration';
import {
  ceilSecond,
  formatTime,
  type Instant,
  instant,
  type Millis,
  minus,
  parseTime,
  plus,
} from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { Cleaner } from '#api/cleaner';
import { DELAY_ANNOTATION, readDelay } from '#controllers/cleaner/delay';
import { readTtl } from '#controllers/cleaner/spec';
import type { ObjectName } from '#controllers/forecaster';
import { TTL_ANNOTATION } from '#expiry/expiry';
import { MOST_SECONDS } from '#expiry/finishable';
import { JOB_TTL_FIELD } from '#expiry/job';
import { POD_TTL_ANNOTATION } from '#expiry/pod';
import { EXPIRES_ANNOTATION } from '#expiry/ttlAnnotation';
import type { Explanation, RuleDecision } from '#forecast/explain/explanation';
import { timeText } from '../times.ts';

export type RequestedChange =
  /** Counted from the deadline, or from now if the object is overdue. */
  | { readonly kind: 'for'; readonly length: Millis }
  | { readonly kind: 'until'; readonly at: Instant }
  | { readonly kind: 'keep' }
  | { readonly kind: 'release' };

export interface Edit {
  readonly field: string;
  readonly before?: string;
  /** Undefined: the field is removed. */
  readonly after?: string;
}

export interface Change {
  readonly edits: readonly Edit[];
  /** A merge patch. */
  readonly patch: JsonObject;
  /** The object must not be deleted before. `never`: not at all. Undefined: no condition. */
  readonly notBefore?: Instant | 'never';
}

export type Proposal =
  /** The first change that the rules honor is made. */
  | { readonly kind: 'changes'; readonly changes: readonly Change[] }
  /** The object is as the user wants it. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly why: string };

const refused = (why: string): Proposal => ({ kind: 'refused', why });

export interface Subject {
  readonly kind: Pick<ServedKind, 'group' | 'kind'>;
  readonly object: KubeObject;
  readonly explanation: Explanation;
}

export function proposeChanges(subject: Subject, requested: RequestedChange): Proposal {
  const { decision } = subject.explanation;
  if (decision.kind === 'terminating') return refused('it is terminating already');
  const begun = begunAt(subject);
  if (begun !== undefined) return refused(`the Cleaner began to delete its targets at ${begun}`);
  switch (requested.kind) {
    case 'keep':
      return proposeKeep(subject);
    case 'release':
      return proposeRelease(subject);
    case 'for':
    case 'until':
      return isCleaner(subject) ? proposeDelay(subject, requested) : proposeExtension(subject, requested);
  }
}

const isCleaner = ({ kind }: Subject): boolean => kind.group === Cleaner.group && kind.kind === Cleaner.kind;

/** After its first deletion, a Cleaner completes its decision. */
const begunAt = (subject: Subject): string | undefined =>
  isCleaner(subject) ? (subject.object as Cleaner).status?.deletion?.startedAt : undefined;

const annotationOf = ({ object }: Subject, name: string): string | undefined => {
  const { annotations = {} } = object.metadata;
  return Object.hasOwn(annotations, name) ? annotations[name] : undefined;
};

function annotate(
  subject: Subject,
  values: Readonly<Record<string, string | null>>,
): Omit<Change, 'notBefore'> {
  const edits = Object.entries(values).map(([name, after]): Edit => {
    const before = annotationOf(subject, name);
    return {
      field: `annotation ${name}`,
      ...(before === undefined ? {} : { before }),
      ...(after === null ? {} : { after }),
    };
  });
  return { edits, patch: { metadata: { annotations: { ...values } } } };
}

function proposeKeep(subject: Subject): Proposal {
  if (annotationOf(subject, TTL_ANNOTATION) === 'never') return { kind: 'unchanged' };
  const change = annotate(subject, { [TTL_ANNOTATION]: 'never' });
  return { kind: 'changes', changes: [{ ...change, notBefore: 'never' }] };
}

/** Removes what `keep` sets, and the delay of a Cleaner. `lapse.dev/expires-at` may belong to the author of the object. */
function proposeRelease(subject: Subject): Proposal {
  const isKept = annotationOf(subject, TTL_ANNOTATION) === 'never';
  const isDelayed = isCleaner(subject) && annotationOf(subject, DELAY_ANNOTATION) !== undefined;
  if (!isKept && !isDelayed) return { kind: 'unchanged' };
  const removed = {
    ...(isKept ? { [TTL_ANNOTATION]: null } : {}),
    ...(isDelayed ? { [DELAY_ANNOTATION]: null } : {}),
  };
  return { kind: 'changes', changes: [annotate(subject, removed)] };
}

type Extension = Extract<RequestedChange, { kind: 'for' | 'until' }>;

/** Whole seconds, as the fields have them. */
const endOf = (requested: Extension, from: Instant): Instant =>
  ceilSecond(requested.kind === 'until' ? requested.at : plus(from, requested.length));

const keptAlready = (deadline: Instant): Proposal =>
  refused(`it is not deleted before ${timeText(deadline)} already`);

function proposeDelay(subject: Subject, requested: Extension): Proposal {
  const { explanation } = subject;
  const cleaner = subject.object as Cleaner;
  const delay = readDelay(cleaner.metadata);
  if (delay.kind === 'never') return refused(KEPT);
  const { decision, now } = explanation;
  const gate = plus(parseTime(cleaner.metadata.creationTimestamp ?? ''), readTtl(cleaner) ?? (0 as Millis));
  const known = [
    gate,
    delay.kind === 'until' ? delay.at : now,
    decision.kind === 'deleted' ? decision.at : now,
  ];
  const deadline = instant(Math.max(...known.filter(Number.isFinite), now));
  const end = endOf(requested, deadline);
  if (requested.kind === 'until' && end <= deadline) return keptAlready(deadline);
  const change = annotate(subject, { [DELAY_ANNOTATION]: formatTime(end) });
  return { kind: 'changes', changes: [{ ...change, notBefore: end }] };
}

const KEPT = `annotation ${TTL_ANNOTATION} is never, so it has no deadline; run lapse release first`;

function proposeExtension(subject: Subject, requested: Extension): Proposal {
  const { decision, now, also } = subject.explanation;
  switch (decision.kind) {
    case 'deleted':
      return proposeFields(subject, [decision.by, ...also].filter(isEnding), requested);
    case 'held':
      if (decision.by.reason === 'OptedOut') return refused(KEPT);
      if (isEnding(decision.by)) return proposeFields(subject, [decision.by], requested);
      return refused(`it has no deadline: ${decision.by.because}`);
    case 'kept':
      if (decision.by.reason === 'Unfinished') return proposeUnfinished(subject, decision.by, requested);
      return refused(`no rule deletes it: ${decision.by.because}`);
    case 'deletedWith':
      return refused(describeDeletedWith(decision.what, timeText(instant(Math.max(decision.at, now)))));
    default:
      return refused('no rule deletes it');
  }
}

export function describeDeletedWith({ kind, name, namespace }: ObjectName, at: string): string {
  const where = namespace === undefined ? '' : ` -n ${namespace}`;
  return `it is deleted with ${kind} ${name} at ${at}; extend that: lapse extend ${kind.toLowerCase()}/${name}${where}`;
}

/** A policy in DryRun or Paused has a deadline too. */
const isEnding = ({ says, reason, at }: RuleDecision): boolean =>
  at !== undefined && (says === 'deleted' || reason === 'DryRun' || reason === 'Paused');

/** Changes the field of each rule that deletes the object before the new deadline. */
function proposeFields(subject: Subject, rules: readonly RuleDecision[], requested: Extension): Proposal {
  const { now } = subject.explanation;
  const deadline = instant(Math.min(...rules.map(({ at }) => at!)));
  const end = endOf(requested, instant(Math.max(deadline, now)));
  if (end <= deadline) return keptAlready(deadline);
  if (end <= now) return refused(`${timeText(end)} is in the past`);
  const early = rules.filter(({ at }) => at! < end);
  const other = early.find(({ family }) => family !== OWN && family !== POLICY);
  if (other !== undefined) return refused(describeOther(other));
  const own = early.find(({ family }) => family === OWN);
  const lengthened = own && lengthen(subject, minus(end, own.at!));
  if (lengthened !== undefined && 'why' in lengthened) return lengthened;
  const dated = annotate(subject, { [EXPIRES_ANNOTATION]: formatTime(end) });
  if (lengthened === undefined) return { kind: 'changes', changes: [{ ...dated, notBefore: end }] };
  const both = {
    edits: [...lengthened.edits, ...dated.edits],
    patch: mergeMetadata(lengthened.patch, dated.patch),
  };
  // A policy respects the object's own TTL by default. Otherwise it needs the annotation, too.
  return { kind: 'changes', changes: [lengthened, both].map((one) => ({ ...one, notBefore: end })) };
}

/** Both patches may set annotations. */
const mergeMetadata = (a: JsonObject, b: JsonObject): JsonObject => {
  type Annotated = { metadata?: { annotations?: JsonObject } };
  const annotations = {
    ...(a as Annotated).metadata?.annotations,
    ...(b as Annotated).metadata?.annotations,
  };
  return { ...a, metadata: { annotations } };
};

/** The families whose rules read a TTL of the object. */
const OWN = 'ttl-after-finished';
const POLICY = 'ttl-policy';

function describeOther({ family, rule }: RuleDecision): string {
  if (family !== 'cleaner') return `${rule} (${family}) deletes it, and its deadline cannot be extended`;
  const [, path = ''] = rule.split(' ');
  const [namespace, name] = path.split('/');
  return `${rule} deletes it, and does not read annotations of its targets; extend the Cleaner: lapse extend cleaner/${name} -n ${namespace}`;
}

/** The TTL of a Job or Pod, longer by at least this. */
function lengthen(
  subject: Subject,
  by: Millis,
): Omit<Change, 'notBefore'> | Extract<Proposal, { kind: 'refused' }> {
  const { spec } = subject.object as { spec?: { ttlSecondsAfterFinished?: number } };
  const isJob = subject.kind.kind === 'Job';
  const before = isJob ? spec?.ttlSecondsAfterFinished : Number(annotationOf(subject, POD_TTL_ANNOTATION));
  if (before === undefined || !Number.isFinite(before))
    return { kind: 'refused', why: 'it has no TTL of its own' };
  const after = before + Math.ceil(by / 1000);
  if (after > MOST_SECONDS) {
    const most = formatGoDuration(BigInt(MOST_SECONDS) * 1_000_000_000n);
    return {
      kind: 'refused',
      why: `its TTL would exceed ${MOST_SECONDS} s (${most}); run lapse keep to keep it`,
    };
  }
  if (!isJob) return annotate(subject, { [POD_TTL_ANNOTATION]: String(after) });
  return {
    edits: [{ field: JOB_TTL_FIELD, before: String(before), after: String(after) }],
    patch: { spec: { ttlSecondsAfterFinished: after } },
  };
}

/** Its own TTL can be lengthened before it finishes. The deadline is not known yet. */
function proposeUnfinished(
  subject: Subject,
  { family, because }: RuleDecision,
  requested: Extension,
): Proposal {
  if (family !== OWN) return refused(`it has no deadline yet: ${because}`);
  if (requested.kind === 'until')
    return refused('it has not finished, so its deadline is not known; use --for to lengthen its TTL');
  const change = lengthen(subject, requested.length);
  return 'why' in change ? change : { kind: 'changes', changes: [change] };
}
