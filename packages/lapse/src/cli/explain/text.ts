// An explanation as text: the answer on the first line, then the rule, the reason, obstacles, dependents, and next
// steps.

import { styleText } from 'node:util';
import type { Instant } from '@lapse/base/instant';
import { plainText } from '#console/escape';
import type { ObjectName } from '#controllers/forecaster';
import { isOverdue } from '#forecast/explain/advice';
import type { Deed, Explanation, Opinion, Verdict } from '#forecast/explain/explanation';
import { hasDeadline } from '#forecast/plan';
import { type Naming, plainNaming } from '#forecast/resolveKind';
import { wrapped } from '../help.ts';
import { relativeTime, timeText } from '../plan/times.ts';

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
  const { verdict, now, also, off, finalizers, next, unread } = explanation;
  return [
    ['', verdict.kind === 'unruled' ? unruledText(explanation) : headOf(verdict, now, named)],
    ...reasonOf(verdict),
    ...blocksOf(verdict, finalizers),
    ...keeperOf(explanation, named),
    ...also.slice(0, MOST_NAMED).map((decision): Line => ['also', decisionText(decision, now)]),
    ...(also.length > MOST_NAMED ? [['', `and ${also.length - MOST_NAMED} more`] as const] : []),
    ...off.map((decision): Line => ['off', `${decisionText(decision, now)}; switched on by ${decision.off}`]),
    ...takesOf(explanation, named),
    ...effectsOf(explanation, named),
    ...next.map(({ what, command }): Line => ['next', command === undefined ? what : `${what}: ${command}`]),
    ...unread.map((what): Line => ['unread', what]),
  ];
}

/** No rule deletes it. For a policy or Cleaner this is normal. */
function unruledText({ deeds, off }: Explanation): string {
  if (off.length > 0) return 'stays: the rule for it is switched off';
  if (deeds === undefined) return 'stays: no rule means it';
  const ending = deeds.filter(({ says }) => says === 'ends').length;
  return `works: ${ending} of ${deeds.length} that it looks at ${ending === 1 ? 'ends' : 'end'} by it`;
}

function headOf(verdict: Exclude<Verdict, { kind: 'unruled' }>, now: Instant, named: Named): string {
  switch (verdict.kind) {
    case 'ends':
      return isOverdue(verdict.at, now)
        ? `is due since ${when(verdict.at, now)}`
        : `ends ${when(verdict.at, now)}`;
    case 'goesWith':
      return verdict.how === 'lost'
        ? `goes any moment: it has lost its owner ${named(verdict.what)}`
        : `goes ${when(verdict.at, now)} with ${named(verdict.what)}`;
    case 'lingers':
      return `is being deleted since ${timeText(verdict.since)}`;
    case 'held': {
      const { at, reason } = verdict.by;
      if (at === undefined) return 'is held';
      return hasDeadline(reason)
        ? `is held, or it would end ${when(at, now)}`
        : `is held, looked at again ${when(at, now)}`;
    }
    case 'changes':
      return `stays, and changes ${when(verdict.at, now)}`;
    case 'stays':
      return 'stays';
  }
}

function reasonOf(verdict: Verdict): Line[] {
  switch (verdict.kind) {
    case 'ends':
    case 'held':
    case 'changes':
    case 'stays': {
      const { rule, family, because, propagation } = verdict.by;
      const manner: Line[] = propagation === undefined ? [] : [['deletion', propagation]];
      return [['because', because], ['rule', `${rule} (${family})`], ...manner];
    }
    case 'goesWith':
      return [['because', goingText(verdict)]];
    case 'lingers':
    case 'unruled':
      return [];
  }
}

const RELATIONS = { owner: 'owned by it', lost: 'was owned by it', namespace: 'is in it' } as const;

const goingText = ({ how, because }: Extract<Verdict, { kind: 'goesWith' }>): string =>
  `${RELATIONS[how]}; it ${because}`;

function blocksOf(verdict: Verdict, finalizers: readonly string[]): Line[] {
  if (verdict.kind === 'lingers')
    return [
      [
        'blocks',
        verdict.finalizers.length === 0 ? 'nothing' : `the finalizer ${verdict.finalizers.join(', ')}`,
      ],
    ];
  if (verdict.kind !== 'ends' && verdict.kind !== 'goesWith') return [];
  return finalizers.length === 0
    ? [['blocks', 'nothing']]
    : [['blocks', `not the deletion, but the finalizer ${finalizers.join(', ')} keeps it then`]];
}

/** Relevant only if nothing else deletes it. */
function keeperOf({ keeper, verdict }: Explanation, named: Named): Line[] {
  const isEnding = verdict.kind === 'ends' || verdict.kind === 'goesWith' || verdict.kind === 'lingers';
  return keeper === undefined || isEnding
    ? []
    : [['owner', `${named(keeper)} owns it, and does not take it along`]];
}

function decisionText({ rule, family, says, at, because }: Opinion, now: Instant): string {
  const time = at === undefined ? '' : ` ${when(at, now)}`;
  return `${rule} (${family}): ${says}${time}, ${because}`;
}

function takesOf({ takes }: Explanation, nameOf: Named): Line[] {
  if (takes === undefined) return [];
  const total = takes.named.length + takes.more;
  if (total === 0) return [['takes', 'nothing else']];
  const named = takes.named.slice(0, MOST_NAMED);
  const left = total - named.length;
  return [
    ['takes', `${total} more`],
    ...named.map(
      ({ object, depth, perhaps }): Line => [
        '',
        `${'  '.repeat(depth - 1)}${nameOf(object)}${perhaps === true ? ' (perhaps)' : ''}`,
      ],
    ),
    ...(left > 0 ? [['', `and ${left} more`] as const] : []),
  ];
}

function effectsOf({ deeds, now }: Explanation, nameOf: Named): Line[] {
  if (deeds === undefined) return [];
  if (deeds.length === 0) return [['acts on', 'nothing that exists now']];
  const named = deeds.slice(0, MOST_NAMED);
  const left = deeds.length - named.length;
  const text = ({ object, says, at }: Deed) =>
    `${nameOf(object)} ${says}${at === undefined ? '' : ` ${when(at, now)}`}`;
  return [
    ...named.map((deed, index): Line => [index === 0 ? 'acts on' : '', text(deed)]),
    ...(left > 0 ? [['', `and ${left} more`] as const] : []),
  ];
}
