// Every recorded case against the embedded server. Cases listed in known.json must fail, all others must pass. In
// process for speed; the core cases also over HTTPS, where framing, keep-alive and closing are the server's own.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedSocket, startEmbeddedSocket } from './embeddedSocket.ts';
import { type KnownList, loadKnown, unexpectedResults } from './known.ts';
import { loadCases, runAll } from './replay/cases.ts';

const WIDTH = 24;
let socket: EmbeddedSocket;

beforeAll(async () => {
  socket = await startEmbeddedSocket();
});
afterAll(() => socket?.close());

const only = (known: KnownList, titles: ReadonlySet<string>): KnownList =>
  Object.fromEntries(Object.entries(known).filter(([title]) => titles.has(title)));

test('the embedded server answers as recorded, except for the known differences', async () => {
  const results = await runAll(loadCases(), socket.embedded, { width: WIDTH });
  expect(unexpectedResults(results, loadKnown('wire'))).toEqual([]);
  expect(results.size).toBe(539);
});

test('the embedded server answers as recorded over HTTPS, for the core cases', async () => {
  const core = loadCases().filter((c) => c.wireCase.core);
  const results = await runAll(core, socket.target, { width: WIDTH });
  const known = only(loadKnown('wire'), new Set(core.map((c) => c.title)));
  expect(unexpectedResults(results, known)).toEqual([]);
  expect(results.size).toBe(188);
});

test('no recorded case caused an error inside the server', () => {
  expect(socket.embedded.unexpected).toEqual([]);
});
