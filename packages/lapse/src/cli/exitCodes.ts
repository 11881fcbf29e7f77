// The exit codes of the read-only commands (plan, explain, simulate): one table for --help and the docs. A test
// checks the docs.

import { namedRows } from './help.ts';

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'success'],
  [1, 'the cluster does not respond, or rejects the credentials'],
  [
    2,
    'an error in the command or in a file: an invalid flag or name, an unknown kind, an object that does not exist',
  ],
  [3, 'something could not be read, or a permission is missing; the output names it'],
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
