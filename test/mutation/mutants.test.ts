import { expect, test } from 'vitest';
import { mutantsOf } from './mutants.ts';

const afters = (text: string): string[] => mutantsOf(text).map(({ after }) => after);

test.each([
  ['return a === b && !c;', ['return a !== b && !c;', 'return a === b || !c;', 'return a === b && c;']],
  ['if (a < b) return true;', ['if (a <= b) return true;', 'if (a < b) return false;']],
  ["return a + ' - ';", ["return a - ' - ';"]],
  ['  readonly a: true;', []],
  ['// a === b', []],
  ['const a = b; // c === d', []],
  ['const a = b!.c;', []],
])('%s has the mutants %j', (text, expected) => {
  expect(afters(text)).toEqual(expected);
});

test('a mutant is the whole file with one line changed', () => {
  expect(mutantsOf('a\nb === c\nd')).toEqual([
    { line: 2, before: 'b === c', after: 'b !== c', text: 'a\nb !== c\nd' },
  ]);
});
