// The exit codes of the read-only commands (plan, explain, simulate): one table for --help and the docs. A test
// checks the docs.

import { namedRows } from './help.ts';

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'answered'],
  [1, 'no answer: the cluster does not answer, or does not accept the credentials'],
  [2, 'a mistake in the command or in a file: a flag, a name, an unknown kind, no such object'],
  [3, 'something could not be read, or not without a right that is missing: the answer, if any, says what'],
];

/** For the end of a help text, on a narrow terminal. */
export const exitCodesHelp = (): string =>
  [
    'Exit codes:',
    ...namedRows(
      EXIT_CODES.map(([code, description]) => ({ name: String(code), description })),
      80,
    ),
  ].join('\n');

/** As a Markdown table. */
export const exitCodesTable = (): string =>
  ['| Exit code | |', '|---|---|', ...EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`)].join(
    '\n',
  );
