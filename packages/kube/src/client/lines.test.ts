import { describe, expect, it } from 'vitest';
import { LineSplitter } from './lines.ts';
import { PartTooLong } from './partBuffer.ts';

const split = (limit: number, ...chunks: (string | Uint8Array)[]) => {
  const splitter = new LineSplitter(limit);
  const lines: string[] = [];
  for (const chunk of chunks)
    for (const line of splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
      lines.push(line.toString('utf8'));
  return { lines, unfinished: splitter.unfinished };
};

describe('LineSplitter', () => {
  it.each<[string, string[], string[], number]>([
    ['one line in one chunk', ['a\n'], ['a'], 0],
    ['several lines in one chunk', ['a\nb\nc\n'], ['a', 'b', 'c'], 0],
    ['a line over three chunks', ['a', 'b', 'c\n'], ['abc'], 0],
    ['a newline in its own chunk', ['abc', '\n'], ['abc'], 0],
    ['the end of one line and the start of the next', ['a\nb', 'c\nd'], ['a', 'bc'], 1],
    ['empty lines are lines', ['\n\na\n'], ['', '', 'a'], 0],
    ['empty chunks have no effect', ['', 'a', '', '\n', ''], ['a'], 0],
    ['text without a newline is not a line', ['abc'], [], 3],
    ['a carriage return belongs to the line', ['a\r\n'], ['a\r'], 0],
  ])('%s', (_rule, chunks, lines, unfinished) => {
    expect(split(100, ...chunks)).toEqual({ lines, unfinished });
  });

  it('splits any text into the same lines, however it is cut into chunks, also inside a character', () => {
    const text = 'grüße 🎉\n日本語\n\nend\n';
    const all = Buffer.from(text);
    for (let a = 0; a <= all.length; a++)
      for (let b = a; b <= all.length; b++)
        expect(split(100, all.subarray(0, a), all.subarray(a, b), all.subarray(b)).lines).toEqual([
          'grüße 🎉',
          '日本語',
          '',
          'end',
        ]);
  });

  it('single bytes cost time linear in their number', () => {
    const line = 'x'.repeat(20_000);
    const { lines } = split(100_000, ...[...`${line}\n${line}\n`]);
    expect(lines).toEqual([line, line]);
  });

  it.each<[string, string[]]>([
    ['in one chunk with its newline', ['123456\n']],
    ['in one chunk without its newline', ['123456']],
    ['in several chunks', ['123', '456']],
    ['in several chunks, the last with the newline', ['12345', '6\n']],
    ['after valid lines', ['1\n2\n', '123456']],
  ])('a line beyond the limit is rejected: %s', (_name, chunks) => {
    expect(() => split(5, ...chunks)).toThrow(PartTooLong);
  });

  it('a line of exactly the limit is accepted', () => {
    expect(split(5, '12345\n', '123', '45\n').lines).toEqual(['12345', '12345']);
  });
});
