// Small changes to a source file, each of which some test should detect: conditions flipped, bounds moved by one, signs
// and constants exchanged, negations removed.

export interface Mutant {
  readonly line: number;
  /** The line before and after. */
  readonly before: string;
  readonly after: string;
  /** The whole file with the change. */
  readonly text: string;
}

const SWAPS: readonly (readonly [found: RegExp, by: string])[] = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/(?<=[\s(,])!(?=[\w(])/g, ''],
];

/** Lines that declare types or import, and comments: changing them has no effect at run time. */
const NOT_CODE = /^\s*(import\b|export type\b|type\b|interface\b|readonly\b|\||\/\/|\/\*|\*)/;

export function mutantsOf(text: string): Mutant[] {
  const lines = text.split('\n');
  return lines.flatMap((before, index) =>
    NOT_CODE.test(before)
      ? []
      : changesOf(before).map((after) => ({
          line: index + 1,
          before,
          after,
          text: lines.with(index, after).join('\n'),
        })),
  );
}

function changesOf(line: string): string[] {
  const code = withoutTexts(line);
  return SWAPS.flatMap(([found, by]) =>
    [...code.matchAll(found)].map(
      ({ 0: match, index }) => line.slice(0, index) + by + line.slice(index + match.length),
    ),
  );
}

/** The line with its string contents and its comment blanked, so that columns stay the same. */
const withoutTexts = (line: string): string =>
  line
    .replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\/(?![/*\s])(?:[^/\\\n]|\\.)+\/[a-z]*/g, (text) =>
      '_'.repeat(text.length),
    )
    .replace(/\/\/.*$/, (comment) => '_'.repeat(comment.length));
