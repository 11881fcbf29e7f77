import { describe, expect, test } from 'vitest';
import { FrameSplitter } from './frames.ts';
import { PartTooLong } from './partBuffer.ts';

function framed(...texts: string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const head = Buffer.alloc(4);
      head.writeUInt32BE(Buffer.byteLength(text));
      return [head, Buffer.from(text)];
    }),
  );
}

function split(limit: number, ...chunks: Uint8Array[]): { frames: string[]; unfinished: number } {
  const splitter = new FrameSplitter(limit);
  const frames: string[] = [];
  for (const chunk of chunks) for (const frame of splitter.push(chunk)) frames.push(frame.toString());
  return { frames, unfinished: splitter.unfinished };
}

describe('FrameSplitter', () => {
  test('splits any stream into the same frames, however it is cut into chunks', () => {
    const all = framed('grüße', '', 'x', 'a longer frame');
    for (let a = 0; a <= all.length; a++)
      for (let b = a; b <= all.length; b++)
        expect(split(100, all.subarray(0, a), all.subarray(a, b), all.subarray(b))).toEqual({
          frames: ['grüße', '', 'x', 'a longer frame'],
          unfinished: 0,
        });
  });

  test('accepts single bytes', () => {
    const bytes = [...framed('abc', 'd')].map((byte) => Uint8Array.of(byte));
    expect(split(100, ...bytes)).toEqual({ frames: ['abc', 'd'], unfinished: 0 });
  });

  test.each<[string, Buffer, number]>([
    ['an empty chunk', Buffer.alloc(0), 0],
    ['part of a length', framed('abc').subarray(0, 3), 3],
    ['a length alone', framed('abc').subarray(0, 4), 4],
    ['all but the last byte', framed('abc').subarray(0, 6), 6],
  ])('unfinished: %s', (_what, bytes, unfinished) => {
    expect(split(100, framed('x'), bytes)).toEqual({ frames: ['x'], unfinished });
  });

  test('a frame beyond the limit is rejected when its length is read', () => {
    expect(() => split(5, framed('123456').subarray(0, 4))).toThrow(new PartTooLong('frame', 5));
    const [a, b] = [framed('123456').subarray(0, 2), framed('123456').subarray(2, 4)];
    expect(() => split(5, a, b)).toThrow(PartTooLong);
    expect(() => split(5, Buffer.from([255, 255, 255, 255, 1]))).toThrow(PartTooLong);
    expect(split(5, framed('12345')).frames).toEqual(['12345']);
  });
});
