import { seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { describe, expect, it } from 'vitest';
import type { HttpRequest, HttpResponse } from '#api/http';
import type { Kind } from '#api/kind';
import { type Client, createClient } from './client.ts';
import { inProcessTransport } from './inProcess.ts';
import { bytes, errorResponse, json, manualClock } from './testkit.ts';

const resource = (name: string, kind: string, more: object = {}) => ({
  resource: name,
  responseKind: { group: '', version: '', kind },
  scope: 'Namespaced',
  singularResource: kind.toLowerCase(),
  verbs: ['get', 'list'],
  ...more,
});
const aggregated = (...items: object[]) =>
  json(200, { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items });
const core = aggregated({
  metadata: {},
  versions: [
    {
      version: 'v1',
      resources: [
        resource('nodes', 'Node', {
          scope: 'Cluster',
          shortNames: ['no'],
          subresources: [{ subresource: 'status' }],
        }),
      ],
    },
  ],
});
const batch = {
  metadata: { name: 'batch' },
  versions: [
    { version: 'v1', resources: [resource('jobs', 'Job', { categories: ['all'] })] },
    { version: 'v1beta1', resources: [resource('jobs', 'Job'), resource('cronjobs', 'CronJob')] },
  ],
};

function setup(answers: Record<string, HttpResponse | (() => HttpResponse)>) {
  const paths: string[] = [];
  const clock = manualClock();
  const handler = async ({ path }: HttpRequest) => {
    paths.push(path);
    const answer =
      answers[path] ?? errorResponse(404, 'NotFound', 'the server could not find the requested resource', {});
    return typeof answer === 'function' ? answer() : answer;
  };
  const client = createClient({
    transport: inProcessTransport(handler),
    clock,
    random: seededRandom(1),
    flow: 'none',
  });
  return { client, discovery: client.discovery, paths, clock };
}

describe('aggregated discovery', () => {
  const served = { '/api': core, '/apis': aggregated(batch) };

  it('finds kinds by name or plural, by default in the preferred version', async () => {
    const { discovery, paths } = setup(served);
    expect(await discovery.find({ group: '', kind: 'Node' })).toEqual({
      group: '',
      version: 'v1',
      kind: 'Node',
      resource: 'nodes',
      namespaced: false,
      verbs: ['get', 'list'],
      shortNames: ['no'],
      categories: [],
      singular: 'node',
      subresources: ['status'],
    });
    expect(await discovery.find({ group: 'batch', resource: 'jobs' })).toMatchObject({
      version: 'v1',
      kind: 'Job',
      categories: ['all'],
    });
    expect(await discovery.find({ group: 'batch', version: 'v1beta1', kind: 'Job' })).toMatchObject({
      version: 'v1beta1',
    });
    expect(await discovery.find({ group: 'batch', kind: 'CronJob' })).toMatchObject({
      version: 'v1beta1',
      resource: 'cronjobs',
    });
    expect(paths).toEqual(['/api', '/apis']);
  });

  it('a missing kind triggers a refresh, but not again within the interval', async () => {
    let groups = [batch];
    const { discovery, paths, clock } = setup({ '/api': core, '/apis': () => aggregated(...groups) });
    await discovery.all();
    await clock.advance(seconds(6));
    groups = [
      batch,
      {
        metadata: { name: 'example.com' },
        versions: [{ version: 'v1', resources: [resource('widgets', 'Widget')] }],
      },
    ];
    expect(await discovery.find({ group: 'example.com', kind: 'Widget' })).toMatchObject({
      resource: 'widgets',
    });
    expect(paths).toHaveLength(4);
    expect(await discovery.find({ group: 'example.com', kind: 'Gadget' })).toBeUndefined();
    expect(await discovery.find({ group: 'example.com', kind: 'Gadget' })).toBeUndefined();
    expect(paths).toHaveLength(4);
    await clock.advance(seconds(6));
    expect(await discovery.find({ group: 'example.com', kind: 'Gadget' })).toBeUndefined();
    expect(paths).toHaveLength(6);
  });

  describe('a cached kind that is no longer served', () => {
    const jobs: Kind = { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true };
    const job = { namespace: 'n', name: 'x' };
    const { versions } = batch;
    const retiring = () => {
      const all = [...versions];
      return { all, ...setup({ '/api': core, '/apis': () => aggregated({ ...batch, versions: all }) }) };
    };
    const verbs: [string, (client: Client) => Promise<unknown>][] = [
      ['get', (client) => client.get(jobs, job)],
      ['list', (client) => client.list(jobs)],
      ['delete', (client) => client.delete(jobs, job)],
      ['patch', (client) => client.patch(jobs, job, { type: 'merge', patch: {} })],
      ['watch', (client) => client.watch(jobs).next()],
    ];

    it.each(verbs)('%s: the cache is refreshed and finds the remaining version', async (_verb, act) => {
      const { all, client, discovery, clock } = retiring();
      expect(await discovery.find({ group: 'batch', kind: 'Job' })).toMatchObject({ version: 'v1' });
      all.shift();
      await clock.advance(seconds(6));
      await act(client).catch(() => {});
      expect(await discovery.find({ group: 'batch', kind: 'Job' })).toMatchObject({ version: 'v1beta1' });
    });

    it('is refreshed once in a few seconds, however often the server responds 404', async () => {
      const { all, client, discovery, clock, paths } = retiring();
      const reads = () => paths.filter((path) => path === '/apis').length;
      await discovery.all();
      all.shift();
      for (let i = 0; i < 20; i++) {
        await client.get(jobs, job).catch(() => {});
        await discovery.all();
      }
      expect(reads(), 'not read again within the interval').toBe(1);
      await clock.advance(seconds(6));
      expect(await discovery.find({ group: 'batch', version: 'v1', kind: 'Job' })).toBeUndefined();
      expect(reads(), 'read again after the interval').toBe(2);
      await clock.advance(seconds(60));
      await discovery.all();
      expect(reads(), 'not outdated after a read').toBe(2);
    });

    it('a missing object does not trigger a refresh', async () => {
      const path = '/apis/batch/v1/namespaces/n/jobs/x';
      const missing = errorResponse(404, 'NotFound', 'jobs.batch "x" not found', { name: 'x' });
      const { client, discovery, clock, paths } = setup({ ...served, [path]: missing });
      await discovery.all();
      await clock.advance(seconds(6));
      expect(await client.get(jobs, job)).toBeUndefined();
      await discovery.all();
      expect(paths.filter((seen) => seen === '/apis')).toHaveLength(1);
    });
  });

  it('a client that shares the cache invalidates it for all clients', async () => {
    const { discovery, paths, clock } = setup(served);
    await discovery.all();
    await clock.advance(seconds(6));
    const transport = inProcessTransport(async () => errorResponse(404, 'NotFound', 'no such resource', {}));
    const other = createClient({ transport, clock, random: seededRandom(1), flow: 'none', discovery });
    await other
      .list({ group: 'g', version: 'v1', kind: 'X', resource: 'xs', namespaced: true })
      .catch(() => {});
    await discovery.all();
    expect(paths).toHaveLength(4);
  });

  it('concurrent misses share one refresh', async () => {
    const { discovery, paths, clock } = setup(served);
    await discovery.all();
    await clock.advance(seconds(6));
    await Promise.all(Array.from({ length: 20 }, (_, i) => discovery.find({ group: `g${i}`, kind: 'X' })));
    expect(paths).toHaveLength(4);
  });

  it('concurrent first queries share one read, and invalidate drops it', async () => {
    const { discovery, paths } = setup(served);
    await Promise.all([discovery.all(), discovery.all(), discovery.find({ group: '', kind: 'Node' })]);
    expect(paths).toHaveLength(2);
    discovery.invalidate();
    await discovery.all();
    expect(paths).toHaveLength(4);
  });

  it('a failed read is thrown and retried by the next query', async () => {
    let down = true;
    const { discovery } = setup({
      '/api': core,
      '/apis': () => (down ? errorResponse(503, 'ServiceUnavailable', 'starting') : aggregated(batch)),
    });
    await expect(discovery.find({ group: 'batch', kind: 'Job' })).rejects.toMatchObject({ code: 503 });
    down = false;
    expect(await discovery.find({ group: 'batch', kind: 'Job' })).toMatchObject({ resource: 'jobs' });
  });

  it.each<[string, HttpResponse]>([
    [
      'entries of the wrong type',
      aggregated(
        ...([
          null,
          1,
          { metadata: 'x', versions: 'y' },
          { versions: [{ resources: [null, {}, { responseKind: 5 }] }] },
        ] as object[]),
      ),
    ],
    ['no items', json(200, { kind: 'APIGroupDiscoveryList' })],
    ['another document', json(200, { kind: 'Whatever' })],
  ])('tolerates %s', async (_name, answer) => {
    expect(await setup({ '/api': answer, '/apis': answer }).discovery.all()).toEqual([]);
  });
});

describe('unaggregated discovery', () => {
  const list = (groupVersion: string, ...resources: object[]) =>
    json(200, { kind: 'APIResourceList', groupVersion, resources });
  const served = {
    '/api': json(200, { kind: 'APIVersions', versions: ['v1'] }),
    '/api/v1': list(
      'v1',
      { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['get'], singularName: 'pod' },
      { name: 'pods/status', kind: 'Pod', namespaced: true, verbs: ['get'] },
    ),
    '/apis': json(200, {
      kind: 'APIGroupList',
      groups: [
        {
          name: 'batch',
          versions: [{ groupVersion: 'batch/v2alpha1' }, { groupVersion: 'batch/v1' }],
          preferredVersion: { groupVersion: 'batch/v1' },
        },
        { name: 'metrics.k8s.io', versions: [{ groupVersion: 'metrics.k8s.io/v1' }] },
      ],
    }),
    '/apis/batch/v1': list('batch/v1', { name: 'jobs', kind: 'Job', namespaced: true, verbs: ['get'] }),
    '/apis/batch/v2alpha1': list('batch/v2alpha1', {
      name: 'jobs',
      kind: 'Job',
      namespaced: true,
      verbs: ['get'],
    }),
    '/apis/metrics.k8s.io/v1': { status: 503, headers: {}, body: bytes('service unavailable') },
  };

  it('is supported; the preferred version comes first; an unavailable group hides only itself', async () => {
    const { discovery } = setup(served);
    expect(
      (await discovery.all()).map(({ group, version, resource }) => `${group}/${version}/${resource}`),
    ).toEqual(['/v1/pods', 'batch/v1/jobs', 'batch/v2alpha1/jobs']);
    expect(await discovery.find({ group: '', kind: 'Pod' })).toMatchObject({
      subresources: ['status'],
      singular: 'pod',
    });
    expect(await discovery.find({ group: 'batch', kind: 'Job' })).toMatchObject({ version: 'v1' });
  });
});

describe('an unavailable API is distinguished from a missing one', () => {
  it('aggregated: a version whose freshness is Stale', async () => {
    const stale = {
      metadata: { name: 'metrics.example.com' },
      versions: [{ version: 'v1', freshness: 'Stale', resources: [] }],
    };
    const { discovery } = setup({ '/api': core, '/apis': aggregated(batch, stale) });
    expect(await discovery.find({ group: 'metrics.example.com', kind: 'Metric' })).toBeUndefined();
    expect(await discovery.isUnavailable('metrics.example.com')).toBe(true);
    expect(await discovery.isUnavailable('batch')).toBe(false);
    expect(await discovery.isUnavailable('nowhere.example.com')).toBe(false);
  });

  it('without aggregation: a group version whose resource list is answered with an error', async () => {
    const { discovery } = setup({
      '/api': json(200, { kind: 'APIVersions', versions: [] }),
      '/apis': json(200, {
        kind: 'APIGroupList',
        groups: [
          { name: 'down.example.com', versions: [{ groupVersion: 'down.example.com/v1', version: 'v1' }] },
        ],
      }),
      '/apis/down.example.com/v1': errorResponse(
        503,
        'ServiceUnavailable',
        'the server is currently unable',
        {},
      ),
    });
    expect(await discovery.isUnavailable('down.example.com')).toBe(true);
  });
});
