// Watches that are broken on purpose, one guarantee at a time: a handler between the server and the watchers that
// changes the lines of a stream.

import type { HttpHandler, HttpRequest } from '@lapse/kube/api/http';

/**
 * - `swapping`: two events change places
 * - `repeating`: an event comes twice
 * - `losing`: an event in the middle is left out
 * - `amnesiac`: a watch begins now, whatever version was requested
 * - `boasting`: a bookmark overtakes the event before it
 */
export type WatchFlaw = 'swapping' | 'repeating' | 'losing' | 'amnesiac' | 'boasting';

const isWatch = ({ path }: HttpRequest): boolean => /[?&]watch=(1|true)/.test(path);

export function flawed(handler: HttpHandler, flaw: WatchFlaw | undefined, now: () => number): HttpHandler {
  if (flaw === undefined) return handler;
  return async (request) => {
    if (!isWatch(request)) return handler(request);
    if (flaw === 'amnesiac')
      return handler({
        ...request,
        path: request.path.replace(/resourceVersion=\d+/, `resourceVersion=${now()}`),
      });
    const response = await handler(request);
    if (response.body instanceof Uint8Array) return response;
    return { ...response, body: tampered(response.body, flaw) };
  };
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield* Buffer.from(chunk).toString().split('\n').slice(0, -1);
}

async function* tampered(chunks: AsyncIterable<Uint8Array>, flaw: WatchFlaw): AsyncGenerator<Uint8Array> {
  let kept: string | undefined;
  let count = 0;
  for await (const line of linesOf(chunks)) {
    count++;
    const out = tamper(flaw, line, { count, kept });
    kept = out.keep;
    for (const one of out.send) yield Buffer.from(`${one}\n`);
  }
}

interface Sent {
  readonly send: readonly string[];
  readonly keep?: string | undefined;
}

/** `kept` is the event that was held back. */
function tamper(
  flaw: WatchFlaw,
  line: string,
  { count, kept }: { count: number; kept: string | undefined },
): Sent {
  const isBookmark = line.startsWith('{"type":"BOOKMARK"');
  switch (flaw) {
    case 'repeating':
      return { send: count % 5 === 0 && !isBookmark ? [line, line] : [line] };
    case 'losing':
      return { send: count % 7 === 3 && !isBookmark ? [] : [line] };
    case 'swapping':
      if (kept !== undefined) return { send: [line, kept] };
      return count % 4 === 0 ? { send: [], keep: line } : { send: [line] };
    case 'boasting':
      // The last event waits until a bookmark was sent before it.
      if (isBookmark) return { send: kept === undefined ? [line] : [line, kept] };
      return { send: kept === undefined ? [] : [kept], keep: line };
    default:
      return { send: [line] };
  }
}
