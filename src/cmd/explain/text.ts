// An explanation for people at a terminal: the answer on the first line, then the rule, the reason, what stands in the
// way, what goes along, and what to do next.

import { styleText } from 'node:util';
import type { Instant } from '#base/instant';
import type { ObjectName } from '#controllers/foresight';
import { plainText } from '../plan/page/escape.ts';
import { relativeTime, timeText } from '../plan/times.ts';
import type { Deed, Explanation, Opinion, Verdict } from './explanation.ts';

type Line = readonly [label: string, text: string];

const WIDTH = 9;
const MOST_NAMED = 10;

export function explanationText(explanation: Explanation, colour: boolean): string {
  const style = (format: 'bold' | 'dim', text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const [head, ...rest] = linesOf(explanation);
  const lines = rest.map(([label, text]) => `  ${style('dim', label.padEnd(WIDTH))} ${plainText(text)}`);
  return `${style('bold', plainText(`${objectText(explanation.object)} ${head![1]}`))}\n${lines.join('\n')}\n`;
}

const objectText = ({ kind, namespace, name }: ObjectName): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;

const when = (at: Instant, now: Instant): string => `${timeText(at)} (${relativeTime(at, now)})`;

function linesOf(explanation: Explanation): Line[] {
  const { verdict, now, also, off, finalizers, next, unread } = explanation;
  return [
    ['', headOf(verdict, now)],
    ...reasonOf(verdict),
    ...blocksOf(verdict, finalizers),
    ...also.map((opinion): Line => ['also', opinionText(opinion, now)]),
    ...off.map((opinion): Line => ['off', `${opinionText(opinion, now)}; switched on by ${opinion.off}`]),
    ...takesOf(explanation),
    ...deedsOf(explanation),
    ...next.map(({ what, command }): Line => ['next', command === undefined ? what : `${what}: ${command}`]),
    ...unread.map((what): Line => ['unread', what]),
  ];
}

function headOf(verdict: Verdict, now: Instant): string {
  switch (verdict.kind) {
    case 'ends':
      return verdict.at <= now ? `is due since ${when(verdict.at, now)}` : `ends ${when(verdict.at, now)}`;
    case 'goesWith':
      return `goes ${when(verdict.at, now)} with ${objectText(verdict.what)}`;
    case 'lingers':
      return `is being deleted since ${timeText(verdict.since)}`;
    case 'held': {
      const { at } = verdict.by;
      return at === undefined ? 'is held' : `is held, looked at again ${when(at, now)}`;
    }
    case 'changes':
      return `stays, and changes ${when(verdict.at, now)}`;
    case 'stays':
      return 'stays';
    case 'unruled':
      return 'stays: no rule means it';
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
      return [['because', `${verdict.how === 'owner' ? 'owned by it' : 'in it'}; it ${verdict.because}`]];
    case 'lingers':
    case 'unruled':
      return [];
  }
}

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

function opinionText({ rule, family, says, at, because }: Opinion, now: Instant): string {
  const time = at === undefined ? '' : ` ${when(at, now)}`;
  return `${rule} (${family}): ${says}${time}, ${because}`;
}

function takesOf({ takes }: Explanation): Line[] {
  if (takes === undefined) return [];
  const total = takes.named.length + takes.more;
  if (total === 0) return [['takes', 'nothing else']];
  const named = takes.named.slice(0, MOST_NAMED);
  const left = total - named.length;
  return [
    ['takes', `${total} more`],
    ...named.map(({ object, depth }): Line => ['', `${'  '.repeat(depth - 1)}${objectText(object)}`]),
    ...(left > 0 ? [['', `and ${left} more`] as const] : []),
  ];
}

function deedsOf({ deeds, now }: Explanation): Line[] {
  if (deeds === undefined) return [];
  if (deeds.length === 0) return [['acts on', 'nothing that exists now']];
  const named = deeds.slice(0, MOST_NAMED);
  const left = deeds.length - named.length;
  const text = ({ object, says, at }: Deed) =>
    `${objectText(object)} ${says}${at === undefined ? '' : ` ${when(at, now)}`}`;
  return [
    ...named.map((deed, index): Line => [index === 0 ? 'acts on' : '', text(deed)]),
    ...(left > 0 ? [['', `and ${left} more`] as const] : []),
  ];
}
