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
import type { Explanation, Opinion, Verdict } from './explanation.ts';

export type Advice = Explanation['next'][number];

export interface Question {
  readonly object: ObjectName;
  readonly kind: ServedKind;
  readonly verdict: Verdict;
  readonly off: readonly Opinion[];
  readonly now: number;
  /** How objects are named in this cluster. */
  readonly naming: Naming;
  /** The policy that could delete it, if no rule does. */
  readonly policy: string | undefined;
}

export function adviseOn(question: Question): Advice[] {
  const { verdict, off } = question;
  return [
    ...adviseOnOutcome(question),
    ...off.flatMap((decision) => adviseOnDisabledRules(decision, verdict)),
  ];
}

/** An object that is due in this second is not late. */
export const isOverdue = (at: number, now: number): boolean => now - at >= 1000;

function adviseOnOutcome(question: Question): Advice[] {
  const { verdict, now } = question;
  switch (verdict.kind) {
    case 'ends':
      return [
        ...(isOverdue(verdict.at, now)
          ? [{ what: 'it is overdue; to see whether Lapse runs and may act', command: 'lapse doctor' }]
          : []),
        ...howToKeep(question, verdict.by),
      ];
    case 'goesWith':
      if (verdict.how === 'lost')
        return [
          { what: 'to keep it, strike the owner from its metadata before the garbage collector comes' },
        ];
      return [
        {
          what: `to keep it, keep ${verdict.what.kind} ${verdict.what.name}`,
          command: explainCommand(question, verdict.what),
        },
      ];
    case 'lingers':
      return verdict.finalizers.length === 0
        ? [{ what: 'nothing keeps it: it goes when its grace period is over' }]
        : [
            {
              what: `whoever set ${verdict.finalizers.join(', ')} has to remove it: look at the controller behind it`,
            },
          ];
    case 'held':
      return howToRelease(question, verdict.by);
    case 'changes':
      return [];
    case 'stays':
      return howToEnd(question, verdict.by);
    case 'unruled':
      return question.off.length > 0 ? [] : whoCouldEnd(question);
  }
}

const whoCouldEnd = ({ kind, policy }: Question): Advice[] =>
  policy === undefined ? [] : [{ what: `a ${policy} for ${kind.kind} would end it` }];

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

function howToKeep(question: Question, { family, rule }: Opinion): Advice[] {
  switch (family) {
    case 'ttl-after-finished':
    case 'ttl-policy':
      return [
        { what: 'to keep it', command: kubectl(question, 'annotate', setting(TTL_ANNOTATION, 'never')) },
      ];
    case 'cleaner': {
      const command = patchRule(question, rule, '{"spec":{"mode":"DryRun"}}');
      return command === undefined ? [] : [{ what: 'to only try the Cleaner out', command }];
    }
    case 'request-ttl':
    case 'volume-capture':
    case 'volume-restore':
    case 'manifest-capture':
    case 'object-keeper':
      return [{ what: 'to keep what it made, add a second owner to that before' }];
    default:
      return [];
  }
}

const ENFORCE = '{"spec":{"mode":"Enforce"}}';

function howToRelease(question: Question, { family, rule, reason }: Opinion): Advice[] {
  switch (reason) {
    case 'DryRun':
    case 'Paused': {
      const command = patchRule(question, rule, ENFORCE);
      const who = family === 'cleaner' ? 'the Cleaner' : 'the policy';
      return command === undefined ? [] : [{ what: `to let ${who} act`, command }];
    }
    case 'OptedOut':
      return [{ what: 'to let it end', command: kubectl(question, 'annotate', `${TTL_ANNOTATION}-`) }];
    case 'InvalidTTL':
      return [{ what: 'correct the TTL: until then it stays' }];
    case 'FinishTimeUnknown':
      return [{ what: 'it finished, and nobody wrote down when: it stays until somebody does' }];
    default:
      return [];
  }
}

function howToEnd(question: Question, { family, rule, reason }: Opinion): Advice[] {
  if (reason === 'Unfinished') return [{ what: 'its time starts when it has finished' }];
  if (family !== 'ttl-after-finished' || reason !== 'NoTTL') return [];
  const command = rule.startsWith('spec.')
    ? kubectl(question, 'patch', `--type=merge -p '{"spec":{"ttlSecondsAfterFinished":3600}}'`)
    : kubectl(question, 'annotate', setting(rule.replace(/^annotation /, ''), '3600'));
  return [{ what: 'to give it an hour after it has finished', command }];
}

function adviseOnDisabledRules({ off = '', rule, says }: Opinion, verdict: Verdict): Advice[] {
  if ((says !== 'ends' && says !== 'changes') || verdict.kind === 'lingers') return [];
  return [{ what: `to have ${rule} acted on`, command: `lapse run ${quoted(off)}` }];
}
