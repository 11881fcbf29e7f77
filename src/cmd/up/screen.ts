// The first thing a person sees: what runs, where the data is, what to try.

import { relative, resolve } from 'node:path';
import { styleText } from 'node:util';
import { VERSION } from '#base/version';

export interface Screen {
  readonly url: string;
  readonly kubeconfig: string;
  readonly data: string;
  readonly store: 'sqlite' | 'memory';
  readonly controllers: readonly string[];
  readonly standins: readonly string[];
  readonly examples: boolean;
  readonly colour: boolean;
}

export function firstScreen(screen: Screen): string {
  const { bold, dim } = styles(screen.colour);
  const config = relative('.', screen.kubeconfig);
  const kept =
    screen.store === 'sqlite'
      ? `${resolve(screen.data)} ${dim('(delete it to start over)')}`
      : 'memory only: gone when this ends';
  const kubectl = `kubectl --kubeconfig ${config}`;
  return [
    '',
    `${bold('lapse')} ${VERSION}`,
    '',
    `  serving      ${screen.url}  ${dim('a Kubernetes API for this machine, in this process')}`,
    ...listed('controllers', screen.controllers),
    ...listed('stand-ins', screen.standins),
    `  data         ${kept}`,
    `  kubeconfig   ${config}`,
    '',
    'Try',
    '',
    `  ${bold(`${kubectl} get namespaces`)}`,
    `  ${bold(`${kubectl} create job hello --image=busybox`)}`,
    `  ${bold(`${kubectl} annotate job hello standin.lapse.dev/finish="succeeded after 5s"`)}`,
    `  ${bold(`${kubectl} patch job hello --type merge -p '{"spec":{"ttlSecondsAfterFinished":10}}'`)}`,
    '',
    dim(
      `What waits and what ends is shown here${screen.examples ? ', for the examples to begin with' : ''}. Ctrl-C stops it.`,
    ),
    '',
    '',
  ].join('\n');
}

const WIDTH = 88;

/** Words in lines of a readable length. */
function listed(title: string, names: readonly string[]): string[] {
  const lines: string[] = [];
  for (const name of names.length === 0 ? ['none'] : names) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + name.length + 2 <= WIDTH)
      lines[lines.length - 1] = `${last}, ${name}`;
    else lines.push(name);
  }
  return lines.map((line, i) => `  ${(i === 0 ? title : '').padEnd(13)}${line}`);
}

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

export function styles(colour: boolean): Readonly<Record<Style, (text: string) => string>> {
  const style = (name: Style) => (text: string) => (colour ? styleText(name, text) : text);
  return {
    bold: style('bold'),
    dim: style('dim'),
    green: style('green'),
    yellow: style('yellow'),
    red: style('red'),
  };
}

/** By what a word of the timeline means. */
export function paint(colour: boolean): (action: string, text: string) => string {
  const { green, yellow, red, dim } = styles(colour);
  return (action, text) => {
    if (action === 'deleted' || action === 'finished') return green(text);
    if (action === 'waiting') return dim(text);
    if (/refused|failed|gave up|unanswered/.test(action)) return red(text);
    return yellow(text);
  };
}
