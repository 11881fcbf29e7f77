import { realClock } from '@lapse/base/clock';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startServer, type TestServer } from '../crd/testkit.ts';
import { type Journal, Store } from '../store/store.ts';

let api: TestServer;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

describe('a healthy server', () => {
  test.each([
    '/healthz',
    '/livez',
    '/readyz',
    '/livez/ping',
    '/readyz/etcd',
    '/readyz/shutdown',
    '/healthz/log',
  ])('%s is ok', async (path) => {
    const { status, headers, body } = await api.send('GET', path);
    expect([status, headers['content-type'], body.toString()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'ok',
    ]);
  });

  test.each(['/livez/nope', '/livez/', '/healthz/shutdown', '/readyz/pin', '/healthzz'])(
    '%s is not a health check',
    async (path) => {
      expect(await api.get(path)).toMatchObject({ status: 404, text: '404 page not found\n' });
    },
  );

  test('verbose lists every check in order, and the result', async () => {
    const lines = (await api.get('/readyz?verbose')).text.split('\n');
    expect(lines.slice(0, 5)).toEqual([
      '[+]ping ok',
      '[+]log ok',
      '[+]etcd ok',
      '[+]etcd-readiness ok',
      '[+]informer-sync ok',
    ]);
    expect(lines.slice(-3)).toEqual(['[+]shutdown ok', 'readyz check passed', '']);
  });

  test('skips excluded checks and warns about unknown ones', async () => {
    const { text } = await api.get('/livez?verbose&exclude=etcd&exclude=nope&exclude=bar');
    expect(text).toContain('[+]etcd excluded: ok\n');
    expect(text).toContain(
      'warn: some health checks cannot be excluded: no matches for "bar","nope"\nlivez check passed\n',
    );
  });

  test('accepts any method', async () => {
    expect((await api.ask('POST', '/healthz')).text).toBe('ok');
    const head = await api.send('HEAD', '/healthz');
    expect([head.status, head.body.toString(), head.headers['content-length']]).toEqual([200, '', '2']);
  });
});

describe('a server whose store cannot write', () => {
  let broken: TestServer;
  afterEach(() => broken?.close());

  test('is unhealthy and withholds the reason', async () => {
    const append = vi.fn(async () => {});
    const journal: Journal = {
      load: async () => ({ revision: 1, records: [] }),
      append,
      close: async () => {},
    };
    broken = await startServer({ store: await Store.open(realClock, journal) });
    append.mockRejectedValueOnce(new Error('disk full'));
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } };
    expect((await broken.post('/api/v1/namespaces/default/configmaps', configMap)).status).toBe(500);
    expect(await broken.get('/livez')).toMatchObject({ status: 500 });
    expect((await broken.get('/livez')).text).toMatch(
      /\[-\]etcd failed: reason withheld\n[\s\S]*livez check failed\n$/,
    );
    expect((await broken.get('/livez/etcd')).text).toBe('internal server error: disk full\n');
    expect((await broken.get('/livez?exclude=etcd')).status).toBe(200);
    expect((await broken.post('/api/v1/namespaces/default/configmaps', configMap)).status).toBe(201);
    expect((await broken.get('/livez')).text).toBe('ok');
  });
});

test('a closing server is live but not ready', async () => {
  const closing = await startServer();
  await closing.close();
  expect((await closing.get('/livez')).status).toBe(200);
  expect((await closing.get('/readyz')).text).toContain('[-]shutdown failed: reason withheld\n');
  expect((await closing.get('/readyz/shutdown')).text).toBe(
    'internal server error: process is shutting down\n',
  );
});
