// Tests what the sockets add to `handle`: header bytes, limits, and graceful shutdown.

import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@lapse/base/clock';
import { millis } from '@lapse/base/instant';
import type { HttpHandler, HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { afterEach, describe, expect, test } from 'vitest';
import { createServer } from '../server.ts';
import { openSqliteJournal } from '../store/sqlite.ts';
import { Store } from '../store/store.ts';
import { EventStream } from '../watch/eventStream.ts';
import { WatchHub } from '../watch/watchHub.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';

const open: Listener[] = [];
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close();
});

async function start(handle: HttpHandler, options: ListenOptions = {}): Promise<Listener> {
  const listener = await listen(handle, options);
  open.push(listener);
  return listener;
}

const answer = (text: string): HttpResponse => ({ status: 200, headers: {}, body: Buffer.from(text) });

/** Sends these header lines unchanged as UTF-8, as Go clients do. */
async function headersSent(...lines: string[]): Promise<HttpRequest['headers']> {
  let seen: HttpRequest['headers'] = {};
  const { port } = await start(async ({ headers }) => {
    seen = headers;
    return answer('');
  });
  const socket = connect(port, '127.0.0.1');
  socket.write(
    Buffer.from(['GET / HTTP/1.1', 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n')),
  );
  for await (const _ of socket);
  return seen;
}

describe('request headers', () => {
  test('are decoded as UTF-8', async () => {
    const headers = await headersSent('Impersonate-User: müller', 'Impersonate-Group: Größe, 名');
    expect(headers['impersonate-user']).toBe('müller');
    expect(headers['impersonate-group']).toBe('Größe, 名');
  });

  test('keep repeated values separate', async () => {
    const headers = await headersSent('Impersonate-Group: CN=a, OU=b', 'impersonate-group: c', 'X-One: d, e');
    expect(headers['impersonate-group']).toEqual(['CN=a, OU=b', 'c']);
    expect(headers['x-one']).toBe('d, e');
  });

  test('keep one value for headers that cannot be repeated', async () => {
    const headers = await headersSent('Impersonate-User: jane', 'Impersonate-User: john');
    expect(headers['impersonate-user']).toBe('jane');
  });

  test('may have any name', async () => {
    const headers = await headersSent('__proto__: a', '__proto__: b', 'constructor: c');
    expect(Object.entries(headers)).toEqual(
      expect.arrayContaining([
        ['__proto__', ['a', 'b']],
        ['constructor', 'c'],
      ]),
    );
  });

  test('and the URL have the size limit of Go', async () => {
    const { url } = await start(async ({ path }) => answer(String(path.length)));
    const path = `/?labelSelector=${'x'.repeat(500_000)}`;
    expect(await (await fetch(url + path)).text()).toBe(String(path.length));
  });
});

describe('closing the listener', () => {
  test('waits for requests in flight', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const listener = await start(async () => {
      arrived.resolve();
      await promise;
      return answer('written');
    });
    const asked = fetch(listener.url).then((response) => response.text());
    await arrived.promise;
    const closed = listener.close();
    resolve();
    expect(await asked).toBe('written');
    await closed;
    await expect(fetch(listener.url)).rejects.toThrow();
  });

  test('does not wait for watches', async () => {
    const hub = new WatchHub(Store.inMemory(realClock));
    const listener = await start(async () => ({ status: 200, headers: {}, body: new EventStream(hub) }));
    const watch = await fetch(listener.url);
    const ended = watch.text().catch(() => 'cut');
    await listener.close();
    expect(await ended).toBe('cut');
  });

  test('does not wait longer than the drain time', async () => {
    const arrived = Promise.withResolvers<void>();
    const handle: HttpHandler = () => {
      arrived.resolve();
      return new Promise<never>(() => {});
    };
    const listener = await start(handle, { drain: millis(20) });
    const asked = fetch(listener.url);
    asked.catch(() => {});
    await arrived.promise;
    await listener.close();
    await expect(asked).rejects.toThrow();
  });

  test('closing the server stores pending writes before it closes the store', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lapse-stop-'));
    const store = await Store.open(realClock, await openSqliteJournal(join(folder, 'lapse.db')));
    const server = await createServer({ store });
    const { promise, resolve } = Promise.withResolvers<{ allowed: true }>();
    server.admit({ name: 'f', phase: 'mutating', resources: ['configmaps'], review: () => promise });
    const body = Buffer.from('{"metadata":{"name":"a"}}');
    const headers = { 'content-type': 'application/json' };
    const path = '/api/v1/namespaces/default/configmaps';
    const asked = server.handle({ method: 'POST', path, headers, body });
    const closed = server.close();
    resolve({ allowed: true });
    expect((await asked).status).toBe(201);
    await closed;
    rmSync(folder, { recursive: true });
  });
});
