import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../crd/testkit.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('a server', () => {
  let api: TestServer;
  beforeEach(async () => {
    api = await startServer();
  });
  afterEach(() => api.close());

  /** The value of a sample; undefined when it does not exist. */
  const sample = async (name: string, labels: Record<string, string> = {}): Promise<number | undefined> => {
    const { text } = await api.get('/metrics');
    const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
    const line = text
      .split('\n')
      .find((l) => new RegExp(`^${name}[{ ]`).test(l) && wanted.every((label) => l.includes(label)));
    return line === undefined ? undefined : Number(line.split(' ').at(-1));
  };
  const requests = (verb: string, more: Record<string, string> = {}) =>
    sample('apiserver_request_total', { verb, ...more });

  test('sorts families by name', async () => {
    const { text } = await api.get('/metrics');
    const names = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(5);
    expect(names).toEqual([...names].sort());
  });

  test('counts requests by verb, resource and code', async () => {
    await api.post(MAPS, configMap('a'));
    await api.post(MAPS, configMap('a'));
    await api.post(`${MAPS}?dryRun=All`, configMap('b'));
    await api.get(MAPS);
    await api.get(`${MAPS}/a`);
    await api.patch(`${MAPS}/a`, {});
    await api.delete(`${MAPS}/a`);
    await api.delete(MAPS);
    const map = { resource: 'configmaps', group: '', version: 'v1' };
    expect(await requests('POST', { ...map, code: '201', dry_run: '', scope: 'resource' })).toBe(1);
    expect(await requests('POST', { ...map, code: '409' })).toBe(1);
    expect(await requests('POST', { ...map, dry_run: 'All' })).toBe(1);
    expect(await requests('LIST', { ...map, scope: 'namespace' })).toBe(1);
    expect(await requests('GET', { ...map, scope: 'resource' })).toBe(1);
    expect(await requests('PATCH', map)).toBe(1);
    expect(await requests('DELETE', map)).toBe(1);
    expect(await requests('DELETECOLLECTION', map)).toBe(1);
    expect(await sample('apiserver_request_duration_seconds_count', { verb: 'LIST', ...map })).toBe(1);
  });

  test('does not create labels for unknown resources', async () => {
    for (const path of [
      '/apis/x.example.com/v1/things',
      '/api/v1/nonsense',
      '/whatever',
      '/api/v1/pods/p/nope',
    ]) {
      await api.get(path);
      await api.ask('BREW', path);
    }
    const { text } = await api.get('/metrics');
    for (const word of ['example', 'nonsense', 'whatever', 'nope', 'BREW']) expect(text).not.toContain(word);
    expect(await requests('other')).toBe(3);
  });

  test('reports the number of objects under the new and the old metric name', async () => {
    await api.post(MAPS, configMap('a'));
    expect(await sample('apiserver_resource_objects', { group: '', resource: 'configmaps' })).toBe(1);
    expect(await sample('apiserver_storage_objects', { resource: 'configmaps' })).toBe(1);
    expect(await sample('etcd_object_counts', { resource: 'configmaps' })).toBe(1);
    expect(await sample('etcd_object_counts', { resource: 'jobs.batch' })).toBe(0);
    expect(await sample('apiserver_resource_objects', { group: 'batch', resource: 'jobs' })).toBe(0);
  });

  test('counts watches while they are open', async () => {
    const watchers = () => sample('apiserver_registered_watchers', { kind: 'ConfigMap' });
    const abort = new AbortController();
    const request = { method: 'GET', path: `${MAPS}?watch=1`, headers: {}, signal: abort.signal };
    await api.server.handle(request);
    expect(await watchers()).toBe(1);
    expect(await sample('apiserver_longrunning_requests', { resource: 'configmaps', verb: 'WATCH' })).toBe(1);
    expect(await requests('WATCH', { resource: 'configmaps' })).toBe(1);
    abort.abort();
    expect(await watchers()).toBe(0);
  });

  test('counts the current request as in flight', async () => {
    expect(await sample('apiserver_current_inflight_requests', { request_kind: 'readOnly' })).toBe(1);
    expect(await sample('apiserver_current_inflight_requests', { request_kind: 'mutating' })).toBe(0);
  });

  test('reports process metrics', async () => {
    expect(await sample('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(await sample('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(await sample('kubernetes_build_info', { major: '1', minor: '36' })).toBe(1);
    const { headers } = await api.send('GET', '/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  test('writes only comments and samples, and describes every family once', async () => {
    const lines = (await api.get('/metrics')).text.trimEnd().split('\n');
    const names = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
    expect(new Set(names).size).toBe(names.length);
    for (const line of lines) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [-+.\deInf]+)$/);
  });
});
