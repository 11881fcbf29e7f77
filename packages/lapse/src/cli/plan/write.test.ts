import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { writePieces } from './write.ts';

/** Accepts data only when the event loop is idle. */
function slowReader() {
  const taken: string[] = [];
  let waiting = 0;
  let most = 0;
  const stream = new Writable({
    highWaterMark: 1024,
    decodeStrings: false,
    write(chunk: string, _, done) {
      waiting = stream.writableLength;
      most = Math.max(most, waiting);
      taken.push(chunk);
      setImmediate(done);
    },
  });
  return { stream, taken, most: () => most };
}

test('everything is written in order, and not faster than it is read', async () => {
  const pieces = Array.from({ length: 50_000 }, (_, i) => `line ${i}\n`);
  const { stream, taken, most } = slowReader();
  await writePieces(stream, pieces);
  stream.end();
  expect(taken.join('')).toBe(pieces.join(''));
  expect(most()).toBeLessThan(2 ** 17);
});

test('empty input writes nothing', async () => {
  const { stream, taken } = slowReader();
  await writePieces(stream, []);
  expect(taken).toEqual([]);
});
