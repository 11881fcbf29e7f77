// Next steps for the reader of an explanation: keep the object, let it expire, remove an obstacle. The steps are
// kubectl commands ready to paste. Lapse runs none of them.

import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { Cleaner } from '#api/cleaner';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import type { ObjectName } from '#controllers/forecaster';
import { TTL_ANNOTATION } from '#expiry/expiry';
import { fullName, type Naming } from '../resolveKind.ts';
import type { Decision, Explanation, RuleDecision } from './explanation.ts';

export type Advice = Explanation['next'][number];

export interface Question {
  readonly object: ObjectName;
  readonly kind: ServedKind;
  readonly decision: Decision;
  readonly disabled: readonly RuleDecision[];
  readonly now: number;
  /** How objects are named in this cluster. */
  readonly naming: Naming;
  /** The policy that could delete it, if no rule does. */
  readonly policy: string | undefined;
}

export function adviseOn(question: Question): Advice[] {
  const { decision, disabled } = question;
  return [
    ...adviseOnOutcome(question),
    ...disabled.flatMap((ruleDecision) => adviseOnDisabledRules(ruleDecision, decision)),
  ];
}

/** An object that is due in this second is not late. */
export const isOverdue = (at: number, now: number): boolean => now - at >= 1000;

function adviseOnOutcome(question: Question): Advice[] {
  const { decision, now } = question;
  switch (decision.kind) {
    case 'deleted':
      return [
        ...(isOverdue(decision.at, now)
          ? [
              {
                what: 'it is overdue; to check that Lapse is running and has its permissions',
                command: 'lapse doctor',
              },
            ]
          : []),
        ...howToKeep(question, decision.by),
      ];
    case 'deletedWith':
      if (decision.how === 'lost')
        return [{ what: 'to keep it, remove the owner reference before the garbage collector deletes it' }];
      return [
        {
          what: `to keep it, keep ${decision.what.kind} ${decision.what.name}`,
          command: explainCommand(question, decision.what),
        },
      ];
    case 'terminating':
      return decision.finalizers.length === 0
        ? [{ what: 'nothing blocks the deletion: it is complete when the grace period is over' }]
        : [
            {
              what: `the controller that set ${decision.finalizers.join(', ')} has to remove it; check that it is running`,
            },
          ];
    case 'held':
      return howToRelease(question, decision.by);
    case 'changes':
      return [];
    case 'kept':
      return howToEnd(question, decision.by);
    case 'noRule':
      return question.disabled.length > 0 ? [] : whichPolicy(question);
  }
}

const whichPolicy = ({ kind, policy }: Question): Advice[] =>
  policy === undefined ? [] : [{ what: `a ${policy} for ${kind.kind} could delete it` }];

const kubectl = ({ object, kind }: Pick<Question, 'object' | 'kind'>, verb: string, rest: string): string => {
  const where = object.namespace === undefined ? '' : ` -n ${quoted(object.namespace)}`;
  return `kubectl${where} ${verb} ${shortName(kind)} ${quoted(object.name)} ${rest}`;
};

/** Groups with a dot are not built in: without the group, the name may mean another kind. */
const shortName = (kind: ServedKind): string =>
  kind.group.includes('.') ? fullName(kind) : kind.singular || kind.kind.toLowerCase();

const quoted = (text: string): string =>
  /^[\w.:/=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

function explainCommand({ naming }: Question, object: ObjectName): string {
  const where = object.namespace === undefined ? '' : ` -n ${quoted(object.namespace)}`;
  return `lapse explain ${quoted(naming(object))}${where}`;
}

const RULES = [TTLPolicy, ClusterTTLPolicy, Cleaner] as readonly Kind[];

/** `TTLPolicy ci/tekton` → a command that changes it. */
function patchRule({ naming }: Question, rule: string, patch: string): string | undefined {
  const [, word, path = ''] = /^(\w+) (\S+)$/.exec(rule.split(', ')[0]!) ?? [];
  const kind = RULES.find((one) => one.kind === word);
  if (kind === undefined) return undefined;
  const [namespace, name] = path.includes('/') ? path.split('/') : [undefined, path];
  const where = namespace === undefined ? '' : ` -n ${quoted(namespace)}`;
  const object = naming({ apiVersion: apiVersionOf(kind), kind: kind.kind, name: name! });
  return `kubectl${where} patch ${quoted(object)} --type=merge -p '${patch}'`;
}

/** Without the flag kubectl refuses to change an existing annotation. */
const setting = (annotation: string, value: string): string => `${annotation}=${value} --overwrite`;

function howToKeep(question: Question, { family, rule }: RuleDecision): Advice[] {
  switch (family) {
    case 'ttl-after-finished':
    case 'ttl-policy':
      return [
        { what: 'to keep it', command: kubectl(question, 'annotate', setting(TTL_ANNOTATION, 'never')) },
      ];
    case 'cleaner': {
      const command = patchRule(question, rule, '{"spec":{"mode":"DryRun"}}');
      return command === undefined ? [] : [{ what: 'to set the Cleaner to dry run', command }];
    }
    case 'request-ttl':
    case 'volume-capture':
    case 'volume-restore':
    case 'manifest-capture':
    case 'object-keeper':
      return [{ what: 'to keep the objects that it owns, add another owner to them first' }];
    default:
      return [];
  }
}

/** `TTLPolicy ci/runs`: `lapse approve ttlpolicy/runs -n ci`. */
function approveRule(rule: string): string {
  const [kind = '', name = ''] = rule.split(' ');
  const slash = name.indexOf('/');
  return `lapse approve ${kind.toLowerCase()}/${name.slice(slash + 1)}${slash < 0 ? '' : ` -n ${name.slice(0, slash)}`}`;
}

const ENFORCE = '{"spec":{"mode":"Enforce"}}';

function howToRelease(question: Question, { family, rule, reason }: RuleDecision): Advice[] {
  switch (reason) {
    case 'DryRun':
    case 'Paused': {
      const command = patchRule(question, rule, ENFORCE);
      const who = family === 'cleaner' ? 'the Cleaner' : 'the policy';
      return command === undefined ? [] : [{ what: `to enforce ${who}`, command }];
    }
    case 'OptedOut':
      return [
        { what: 'to allow the deletion', command: kubectl(question, 'annotate', `${TTL_ANNOTATION}-`) },
      ];
    case 'LimitExceeded':
      return [{ what: 'to approve the deletions, after lapse plan', command: approveRule(rule) }];
    case 'InvalidTTL':
      return [{ what: 'correct the TTL; the object is kept until then' }];
    case 'FinishTimeUnknown':
      return [{ what: 'record the finish time in its status; the object is kept until then' }];
    default:
      return [];
  }
}

function howToEnd(question: Question, { family, rule, reason }: RuleDecision): Advice[] {
  if (reason === 'Unfinished') return [{ what: 'the TTL starts when it finishes' }];
  if (family !== 'ttl-after-finished' || reason !== 'NoTTL') return [];
  const command = rule.startsWith('spec.')
    ? kubectl(question, 'patch', `--type=merge -p '{"spec":{"ttlSecondsAfterFinished":3600}}'`)
    : kubectl(question, 'annotate', setting(rule.replace(/^annotation /, ''), '3600'));
  return [{ what: 'to delete it an hour after it finishes', command }];
}

function adviseOnDisabledRules({ enableWith = '', rule, says }: RuleDecision, decision: Decision): Advice[] {
  if ((says !== 'deleted' && says !== 'changes') || decision.kind === 'terminating') return [];
  return [{ what: `to enable ${rule}`, command: `lapse run ${quoted(enableWith)}` }];
}
