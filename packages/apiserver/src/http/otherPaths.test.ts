import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../crd/testkit.ts';

let api: TestServer;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

test('/ lists every path, and every listed path is served', async () => {
  const paths = (await api.get('/')).body['paths'] as string[];
  expect(paths).toEqual([...paths].sort());
  expect(new Set(paths).size).toBe(paths.length);
  expect(paths).toEqual(
    expect.arrayContaining(['/api', '/api/v1', '/apis/batch/v1', '/openapi/v3', '/livez/ping']),
  );
  for (const path of paths.filter((p) => p !== '/openapi/v3/')) {
    expect([path, (await api.get(path)).status]).toEqual([path, 200]);
  }
});

describe('/version', () => {
  test('returns the emulated Kubernetes version with the build metadata of Lapse', async () => {
    const { body } = await api.get('/version');
    expect(body).toMatchObject({ major: '1', minor: '36', compiler: 'v8' });
    expect(body['gitVersion']).toMatch(/^v1\.36\.\d+\+lapse$/);
    expect(body['platform']).toMatch(/^\w+\/\w+$/);
  });

  test.each([
    ['GET', '/version/', '*/*', 200],
    ['GET', '/version', 'application/json, */*', 200],
    ['GET', '/version', 'text/html', 406],
    ['POST', '/version', '', 405],
    ['HEAD', '/version', '', 405],
  ])('%s %s accepting %s is %d', async (method, path, accept, status) => {
    expect((await api.ask(method, path, undefined, { accept })).status).toBe(status);
  });
});

test.each(['/nope', '/openapi', '/openapi/v4', '/metricsx', '//', '/version/x', '/%2e%2e/etc'])(
  '%s is not found',
  async (path) => {
    const { status, headers, body } = await api.send('GET', path);
    expect([status, body.toString()]).toEqual([404, '404 page not found\n']);
    expect(headers['x-content-type-options']).toBe('nosniff');
  },
);
