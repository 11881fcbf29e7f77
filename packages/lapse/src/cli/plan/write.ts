// Writes a long text piece by piece, with backpressure.

import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Characters. */
const AT_ONCE = 1 << 16;

export async function writePieces(stream: Writable, pieces: Iterable<string>): Promise<void> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < AT_ONCE) continue;
    if (!stream.write(text)) await once(stream, 'drain');
    text = '';
  }
  if (text !== '') stream.write(text);
}
