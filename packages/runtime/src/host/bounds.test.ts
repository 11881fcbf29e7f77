import { request as plainRequest } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { closeHostsAfterEach, openHost } from './host.testkit.ts';
import { text } from './listen.ts';

closeHostsAfterEach();

/** Sends the raw bytes `sent` and returns the raw response. */
function converse(port: number, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

/** Sends the head and the start of the body of a request. The rest is sent on `finish`. */
function begin(port: number, head: { length: number; sent: number }) {
  const request = plainRequest({ host: '127.0.0.1', port, method: 'POST', agent: false });
  request.setHeader('content-length', head.length);
  const status = new Promise<{ status: number; retryAfter?: string | undefined }>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode!, retryAfter: response.headers['retry-after'] });
    });
  });
  request.write(Buffer.alloc(head.sent));
  return { status, finish: () => request.end(Buffer.alloc(head.length - head.sent)) };
}

test('returns 413 without reading a body whose Content-Length exceeds the limit', async () => {
  const excess: string[] = [];
  const host = await openHost({ maxBody: 1000, onExcess: (why) => excess.push(why) });
  const answer = await converse(host.port, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1001\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(excess).toEqual(['size']);
});

test('returns 413 for a chunked body over the limit and accepts one at the limit', async () => {
  const host = await openHost({ maxBody: 1000 });
  const chunked = (size: number) =>
    `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${size.toString(16)}\r\n${'a'.repeat(size)}\r\n0\r\n\r\n`;
  expect(await converse(host.port, chunked(1000))).toMatch(/^HTTP\/1\.1 200 /);
  expect(await converse(host.port, chunked(1001))).toMatch(/^HTTP\/1\.1 413 /);
});

test('returns 431 for headers over 64 KiB', async () => {
  const host = await openHost({});
  const answer = await converse(
    host.port,
    `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(70_000)}\r\n\r\n`,
  ).catch(() => 'HTTP/1.1 431 ');
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
});

test('returns 429 with Retry-After for requests over the in-flight limit and serves the others', async () => {
  let release!: () => void;
  const held = new Promise<void>((resolve) => (release = resolve));
  const excess: string[] = [];
  let entered!: () => void;
  const isEntered = new Promise<void>((resolve) => (entered = resolve));
  const host = await openHost({
    maxInFlight: 1,
    onExcess: (why) => excess.push(why),
    handle: async () => {
      entered();
      await held;
      return text(200, 'done\n');
    },
  });
  const first = begin(host.port, { length: 1, sent: 1 });
  first.finish();
  await isEntered;
  const second = begin(host.port, { length: 1, sent: 1 });
  expect(await second.status).toEqual({ status: 429, retryAfter: '1' });
  release();
  expect((await first.status).status).toBe(200);
  const third = begin(host.port, { length: 1, sent: 1 });
  third.finish();
  expect((await third.status).status).toBe(200);
  expect(excess).toEqual(['overload']);
});

test('limits the total bytes of bodies in flight and frees them afterwards', async () => {
  const host = await openHost({ maxBody: 1000, maxBuffered: 1500 });
  const slow = begin(host.port, { length: 1000, sent: 900 });
  let refused = 0;
  // Another 1000 bytes fit until the first 900 bytes have arrived.
  while (refused === 0) {
    const other = begin(host.port, { length: 1000, sent: 1000 });
    other.finish();
    if ((await other.status).status === 429) refused++;
  }
  slow.finish();
  expect((await slow.status).status).toBe(200);
  const after = begin(host.port, { length: 1000, sent: 1000 });
  after.finish();
  expect((await after.status).status).toBe(200);
});

test('responds to a refused request although its body never arrives', async () => {
  const handled: string[] = [];
  const host = await openHost({
    refuse: ({ path }) => (path === '/secret' ? undefined : text(404, 'not found\n')),
    handle: async ({ path }) => {
      handled.push(path);
      return text(200, 'ok\n');
    },
  });
  const answer = await converse(host.port, 'POST /other HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(handled).toEqual([]);
});
