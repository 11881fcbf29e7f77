// An explanation as text: the answer on the first line, then the rule, the reason, obstacles, dependents, and next
// steps.

import { styleText } from 'node:util';
import type { Instant } from '@lapse/base/instant';
import { plainText } from '#console/escape';
import type { ObjectName } from '#controllers/forecaster';
import { isOverdue } from '#forecast/explain/advice';
import type { Action, Decision, Explanation, RuleDecision } from '#forecast/explain/explanation';
import { hasDeadline } from '#forecast/plan';
import { type Naming, plainNaming } from '#forecast/resolveKind';
import { wrapped } from '../help.ts';
import { relativeTime, timeText } from '../times.ts';

type Line = readonly [label: string, text: string];

const WIDTH = 9;
const MOST_NAMED = 10;

/** Width of the label column, and the minimum width of wrapped text. */
const INDENT = WIDTH + 3;
const LEAST = 20;

export interface TextOptions {
  readonly colour?: boolean;
  /** Width of the terminal. Undefined: lines are not wrapped. */
  readonly columns?: number | undefined;
  /** How objects are named in this cluster. */
  readonly naming?: Naming;
}

type Named = (object: ObjectName) => string;

export function explanationText(explanation: Explanation, options: TextOptions = {}): string {
  const { colour = false, columns, naming = plainNaming } = options;
  const style = (format: 'bold' | 'dim', text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const named: Named = (object) =>
    `${naming(object)}${object.namespace === undefined ? '' : ` -n ${object.namespace}`}`;
  const [head, ...rest] = linesOf(explanation, named);
  const lines = rest.map((line) => `  ${style('dim', line[0].padEnd(WIDTH))} ${folded(line, columns)}`);
  return `${style('bold', plainText(`${named(explanation.object)} ${head![1]}`))}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** Text that users copy is not wrapped. */
function folded([label, text]: Line, columns: number | undefined): string {
  if (columns === undefined || label === 'next') return plainText(text);
  return wrapped(plainText(text), Math.max(columns - INDENT, LEAST)).join(`\n${' '.repeat(INDENT)}`);
}

const when = (at: Instant, now: Instant): string => `${timeText(at)} (${relativeTime(at, now)})`;

function linesOf(explanation: Explanation, named: Named): Line[] {
  const { decision, now, also, disabled, finalizers, next, unread } = explanation;
  return [
    ['', decision.kind === 'noRule' ? noRuleText(explanation) : headOf(decision, now, named)],
    ...reasonOf(decision),
    ...blocksOf(decision, finalizers),
    ...keeperOf(explanation, named),
    ...also.slice(0, MOST_NAMED).map((ruleDecision): Line => ['also', decisionText(ruleDecision, now)]),
    ...(also.length > MOST_NAMED ? [['', `and ${also.length - MOST_NAMED} more`] as const] : []),
    ...disabled.map(
      (ruleDecision): Line => [
        'disabled',
        `${decisionText(ruleDecision, now)}; enable it with ${ruleDecision.enableWith}`,
      ],
    ),
    ...dependentsOf(explanation, named),
    ...effectsOf(explanation, named),
    ...next.map(({ what, command }): Line => ['next', command === undefined ? what : `${what}: ${command}`]),
    ...unread.map((what): Line => ['unread', what]),
  ];
}

/** No rule deletes it. For a policy or Cleaner this is normal. */
function noRuleText({ actions, disabled }: Explanation): string {
  if (disabled.length > 0) return 'is kept: the rule for it is disabled';
  if (actions === undefined) return 'is kept: no rule applies to it';
  const ending = actions.filter(({ says }) => says === 'deleted').length;
  return `deletes ${ending} of ${actions.length} selected ${actions.length === 1 ? 'object' : 'objects'}`;
}

function headOf(decision: Exclude<Decision, { kind: 'noRule' }>, now: Instant, named: Named): string {
  switch (decision.kind) {
    case 'deleted':
      return isOverdue(decision.at, now)
        ? `was due for deletion at ${when(decision.at, now)}`
        : `is deleted at ${when(decision.at, now)}`;
    case 'deletedWith':
      return decision.how === 'lost'
        ? `is deleted soon: its owner ${named(decision.what)} does not exist`
        : `is deleted at ${when(decision.at, now)} with ${named(decision.what)}`;
    case 'terminating':
      return `is terminating since ${timeText(decision.since)}`;
    case 'held':
      return `is ${heldText(decision.by, now)}`;
    case 'changes':
      return `is kept, and changes at ${when(decision.at, now)}`;
    case 'kept':
      return 'is kept';
  }
}

function heldText({ at, reason }: RuleDecision, now: Instant): string {
  if (at === undefined) return 'held';
  return hasDeadline(reason)
    ? `held, and would otherwise be deleted at ${when(at, now)}`
    : `held, next evaluation at ${when(at, now)}`;
}

function reasonOf(decision: Decision): Line[] {
  switch (decision.kind) {
    case 'deleted':
    case 'held':
    case 'changes':
    case 'kept': {
      const { rule, family, because, propagation } = decision.by;
      const manner: Line[] = propagation === undefined ? [] : [['deletion', propagation]];
      return [['because', because], ['rule', `${rule} (${family})`], ...manner];
    }
    case 'deletedWith':
      return [['because', deletedWithText(decision)]];
    case 'terminating':
    case 'noRule':
      return [];
  }
}

const RELATIONS = { owner: 'its owner', lost: 'its owner', namespace: 'its namespace' } as const;

const deletedWithText = ({ how, because }: Extract<Decision, { kind: 'deletedWith' }>): string =>
  `${RELATIONS[how]} ${because}`;

function blocksOf(decision: Decision, finalizers: readonly string[]): Line[] {
  if (decision.kind === 'terminating')
    return [
      [
        'blocks',
        decision.finalizers.length === 0 ? 'nothing' : `the finalizer ${decision.finalizers.join(', ')}`,
      ],
    ];
  if (decision.kind !== 'deleted' && decision.kind !== 'deletedWith') return [];
  return finalizers.length === 0
    ? [['blocks', 'nothing']]
    : [['blocks', `not the deletion, but after it the finalizer ${finalizers.join(', ')} keeps the object`]];
}

/** Relevant only if nothing else deletes it. */
function keeperOf({ keeper, decision }: Explanation, named: Named): Line[] {
  const isEnding =
    decision.kind === 'deleted' || decision.kind === 'deletedWith' || decision.kind === 'terminating';
  return keeper === undefined || isEnding ? [] : [['owner', `${named(keeper)} owns it and is not deleted`]];
}

const decisionText = (decision: RuleDecision, now: Instant): string =>
  `${decision.rule} (${decision.family}): ${outcomeText(decision, now)}, ${decision.because}`;

function outcomeText(decision: RuleDecision, now: Instant): string {
  const { says, at } = decision;
  const time = at === undefined ? '' : ` at ${when(at, now)}`;
  switch (says) {
    case 'deleted':
      return `deleted${time}`;
    case 'changes':
      return `changes${time}`;
    case 'held':
      return heldText(decision, now);
    case 'kept':
      return 'kept';
  }
}

function dependentsOf({ dependents }: Explanation, nameOf: Named): Line[] {
  if (dependents === undefined) return [];
  const total = dependents.named.length + dependents.more;
  if (total === 0) return [['cascade', 'no dependents']];
  const named = dependents.named.slice(0, MOST_NAMED);
  const left = total - named.length;
  return [
    ['cascade', `${total} ${total === 1 ? 'dependent' : 'dependents'}`],
    ...named.map(
      ({ object, depth, uncertain }): Line => [
        '',
        `${'  '.repeat(depth - 1)}${nameOf(object)}${uncertain === true ? ' (uncertain)' : ''}`,
      ],
    ),
    ...(left > 0 ? [['', `and ${left} more`] as const] : []),
  ];
}

function effectsOf({ actions, now }: Explanation, nameOf: Named): Line[] {
  if (actions === undefined) return [];
  if (actions.length === 0) return [['acts on', 'no existing object']];
  const named = actions.slice(0, MOST_NAMED);
  const left = actions.length - named.length;
  const text = ({ object, says, at }: Action) =>
    `${nameOf(object)}: ${says}${at === undefined ? '' : ` at ${when(at, now)}`}`;
  return [
    ...named.map((action, index): Line => [index === 0 ? 'acts on' : '', text(action)]),
    ...(left > 0 ? [['', `and ${left} more`] as const] : []),
  ];
}
