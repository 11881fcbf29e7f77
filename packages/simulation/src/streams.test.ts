import { nextTurn } from '@lapse/base/turn';
import { TransportError } from '@lapse/kube/client/transport';
import { expect, test } from 'vitest';
import { Streams, type WatchBreak } from './streams.ts';

/** The server's end of a watch and the data that the process received. */
function open(streams: Streams) {
  const queue: string[] = [];
  let wake = () => {};
  let closed = false;
  const source = (async function* () {
    for (;;) {
      while (queue.length > 0) yield Buffer.from(queue.shift()!);
      if (closed) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  })();
  const received: string[] = [];
  let hungUp = 0;
  const reading = (async () => {
    try {
      for await (const chunk of streams.tap(source, () => hungUp++))
        received.push(Buffer.from(chunk).toString());
      return 'ended';
    } catch (error) {
      return error;
    }
  })();
  const send = async (...texts: string[]) => {
    queue.push(...texts);
    wake();
    await nextTurn();
  };
  const close = () => {
    closed = true;
    wake();
  };
  return { queue, received, reading, send, close, hungUp: () => hungUp };
}

test('data and the end of the stream reach the process', async () => {
  const watch = open(new Streams());
  await watch.send('a', 'b');
  watch.close();
  expect(await watch.reading).toBe('ended');
  expect(watch.received).toEqual(['a', 'b']);
  expect(watch.hungUp()).toBe(1);
});

test('held events leave the server but reach the process only after release', async () => {
  const streams = new Streams();
  const watch = open(streams);
  await nextTurn();
  streams.hold();
  await watch.send('a');
  await watch.send('b');
  expect(watch.queue).toEqual([]);
  expect(watch.received).toEqual([]);
  streams.release();
  await nextTurn();
  expect(watch.received).toEqual(['a', 'b']);
});

test.each<[WatchBreak, (end: unknown) => void, string | undefined]>([
  ['end', (end) => expect(end).toBe('ended'), undefined],
  ['cut', (end) => expect(end).toBeInstanceOf(TransportError), '{"type":"MODIFIED"'],
  ['gone', (end) => expect(end).toBe('ended'), '"code":410'],
])('break by %s loses buffered data', async (how, check, finalChunk) => {
  const streams = new Streams();
  const watch = open(streams);
  await watch.send('a');
  streams.hold();
  await watch.send('lost');
  streams.break(how);
  await watch.send('late');
  streams.release();
  check(await watch.reading);
  expect(watch.received.join()).not.toMatch(/lost|late/);
  expect(watch.received[0]).toBe('a');
  if (finalChunk === undefined) expect(watch.received).toHaveLength(1);
  else expect(watch.received[1]).toContain(finalChunk);
  expect(watch.hungUp()).toBe(1);
});

test('duplicated events arrive twice', async () => {
  const streams = new Streams();
  streams.twice = true;
  const watch = open(streams);
  await watch.send('a');
  expect(watch.received).toEqual(['a', 'a']);
});
