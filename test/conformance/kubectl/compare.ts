// Compares the output of kubectl on the two servers.

import { assertNever } from '@lapse/base/assertNever';
import { normalise, withoutProse } from './normalise.ts';
import type { Command, Outcome } from './types.ts';

/** The complete visible result of a command, normalised. */
function seen({ exit, stdout, stderr, inner }: Outcome): string {
  const own = `exit ${exit}\n${normalise(stdout)}${normalise(stderr)}`;
  return [own, ...inner.map((o) => `meanwhile ${o.command}: ${seen(o)}`)].join('\n');
}

/** The difference between the two, or undefined. */
export function compareOutcomes(command: Command, real: Outcome, embedded: Outcome): string | undefined {
  const comparison = command.compare ?? { kind: 'same' };
  const [expected, actual] = [seen(real), seen(embedded)];
  switch (comparison.kind) {
    case 'same':
      return expected === actual ? undefined : report(embedded, expected, actual);
    case 'withoutProse':
      return withoutProse(expected) === withoutProse(actual)
        ? undefined
        : report(embedded, withoutProse(expected), withoutProse(actual));
    case 'part':
      return isPart(actual, expected) ? undefined : report(embedded, expected, actual);
    case 'differs':
      return expected === actual
        ? `${embedded.command}: no longer differs (${comparison.reason})`
        : undefined;
    default:
      return assertNever(comparison);
  }
}

/** All lines of the part are in the whole, in the same order, and there is at least one. */
function isPart(part: string, whole: string): boolean {
  const lines = whole.split('\n').values();
  const wanted = part.split('\n').filter((line) => line !== '');
  return wanted.length > 1 && wanted.every((line) => lines.some((l) => l === line));
}

/** Only the lines that differ, with the last common line before them. */
function report(outcome: Outcome, expected: string, actual: string): string {
  const [real, ours] = [expected.split('\n'), actual.split('\n')];
  const lines = [`$ kubectl ${outcome.command}`];
  let [i, j] = [0, 0];
  while (i < real.length || j < ours.length) {
    if (real[i] === ours[j]) {
      i++;
      j++;
      continue;
    }
    if (i > 0) lines.push(`  ${real[i - 1]}`);
    const [skipReal, skipOurs] = nextCommon(real.slice(i), ours.slice(j));
    lines.push(
      ...real.slice(i, i + skipReal).map((l) => `- ${l}`),
      ...ours.slice(j, j + skipOurs).map((l) => `+ ${l}`),
    );
    i += skipReal;
    j += skipOurs;
  }
  return `${lines.join('\n')}\n`;
}

/** The smallest number of lines to skip on either side until the outputs match again. */
function nextCommon(a: readonly string[], b: readonly string[]): [number, number] {
  for (let sum = 1; sum < a.length + b.length; sum++) {
    for (let i = Math.max(0, sum - b.length); i <= Math.min(sum, a.length); i++) {
      if (i < a.length && sum - i < b.length && a[i] === b[sum - i]) return [i, sum - i];
    }
  }
  return [a.length, b.length];
}
