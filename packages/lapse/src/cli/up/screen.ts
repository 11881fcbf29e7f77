// The welcome screen: what runs, where the data is, what to try.

import { join, relative, resolve } from 'node:path';
import { VERSION } from '@lapse/base/version';
import { styles } from '../colour.ts';

export interface Screen {
  readonly url: string;
  readonly kubeconfig: string;
  /** Whether `lapse plan` works for this cluster. */
  readonly forecasts?: boolean;
  readonly data: string;
  readonly store: 'sqlite' | 'memory';
  readonly controllers: readonly string[];
  readonly simulatedControllers: readonly string[];
  readonly examples: boolean;
  /** The examples are applied again every day, with longer times. */
  readonly week?: boolean;
  readonly colour: boolean;
}

/** At most 80 columns wide, except for long paths. */
export function firstScreen(screen: Screen): string {
  const { bold, dim } = styles(screen.colour);
  const kept =
    screen.store === 'sqlite'
      ? `${resolve(screen.data)} ${dim('(delete it to start over)')}`
      : 'memory only: lost when the process exits';
  return [
    '',
    `${bold('lapse')} ${VERSION}`,
    '',
    `  serving      ${screen.url}  ${dim('a Kubernetes API, in this process')}`,
    ...listed('controllers', screen.controllers),
    ...listed('simulated', screen.simulatedControllers),
    `  data         ${kept}`,
    `  kubeconfig   ${relative('.', screen.kubeconfig)}`,
    '',
    'Try, in another terminal',
    '',
    ...tries(screen).map((line) => `  ${bold(line)}`),
    '',
    ...hint(screen).map(dim),
    '',
    '',
  ].join('\n');
}

function tries({ kubeconfig, forecasts }: Screen): string[] {
  const file = relative('.', kubeconfig);
  return [
    `kubectl --kubeconfig ${file} get namespaces`,
    '',
    `export KUBECONFIG=${file}`,
    'kubectl create job hello --image=busybox',
    'kubectl annotate job hello simulation.lapse.dev/finish="succeeded after 5s"',
    `kubectl patch job hello -p '{"spec":{"ttlSecondsAfterFinished":10}}'`,
    ...(forecasts === true ? [`${self()} plan`] : []),
  ];
}

/** The command to call Lapse. In a clone it is not on the PATH. */
const self = (): string =>
  relative('.', join(import.meta.dirname, '../../../../../bin/lapse')) === join('bin', 'lapse')
    ? 'bin/lapse'
    : 'lapse';

function hint({ week, examples }: Screen): string[] {
  if (week === true)
    return ['The examples run through a week, with longer times than in their files.', 'Ctrl-C stops it.'];
  return [`Deadlines and deletions${examples ? ' of the examples' : ''} are shown here.`, 'Ctrl-C stops it.'];
}

/** Width of a line beside its title, on a terminal of 80 columns. */
const WIDTH = 65;

/** Wraps the names into lines. */
function listed(title: string, names: readonly string[]): string[] {
  const lines: string[] = [];
  for (const name of names.length === 0 ? ['none'] : names) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + name.length + 2 <= WIDTH)
      lines[lines.length - 1] = `${last}, ${name}`;
    else lines.push(name);
  }
  return lines.map(
    (line, i) => `  ${(i === 0 ? title : '').padEnd(13)}${line}${i < lines.length - 1 ? ',' : ''}`,
  );
}

/** Colours a word of the timeline by its meaning. */
export function paint(colour: boolean): (action: string, text: string) => string {
  const { green, yellow, red, dim } = styles(colour);
  return (action, text) => {
    if (action === 'deleted' || action === 'finished') return green(text);
    if (action === 'waiting') return dim(text);
    if (/refused|failed|gave up|unanswered/.test(action)) return red(text);
    return yellow(text);
  };
}
