import { describe, expect, it } from 'vitest';
import { metadataOf } from '#api/kind';
import { Job, key, PATH, setup } from './jobs.testkit.ts';
import { errorResponse, json } from './testkit.ts';

describe('lists', () => {
  const page = (names: string[], token?: string, version = '9') =>
    json(200, {
      kind: 'JobList',
      metadata: { resourceVersion: version, continue: token ?? '' },
      items: names.map((name) => ({ metadata: { name } })),
    });

  it('follows pages; items get the kind that lists omit', async () => {
    const { client, server } = setup([page(['a', 'b'], 't1'), page(['c'], 't2'), page([])]);
    const { items, resourceVersion } = await client.list(Job, {
      namespace: 'n',
      limit: 2,
      labelSelector: 'x',
      resourceVersion: '0',
    });
    expect(items.map((item) => item.metadata.name)).toEqual(['a', 'b', 'c']);
    expect(items[0]).toMatchObject({ kind: 'Job', apiVersion: 'batch/v1' });
    expect(resourceVersion).toBe('9');
    expect(server.requests.map((request) => request.path)).toEqual([
      `${PATH}?labelSelector=x&resourceVersion=0&limit=2`,
      `${PATH}?labelSelector=x&continue=t1&limit=2`,
      `${PATH}?labelSelector=x&continue=t2&limit=2`,
    ]);
  });

  it('lists everything again in one request if a page expires', async () => {
    const { client, server } = setup([
      page(['a'], 't1'),
      errorResponse(410, 'Expired', 'too old'),
      page(['a', 'b'], undefined, '12'),
    ]);
    const { items, resourceVersion } = await client.list(Job);
    expect(items.map((item) => item.metadata.name)).toEqual(['a', 'b']);
    expect(resourceVersion).toBe('12');
    expect(server.requests[2]?.path).toBe('/apis/batch/v1/jobs');
  });

  it('throws if the first page has expired', async () => {
    await expect(setup([errorResponse(410, 'Expired', 'too old')]).client.list(Job)).rejects.toMatchObject({
      code: 410,
    });
  });

  it('stops if a server repeats its continue token', async () => {
    await expect(setup([page(['a'], 't')]).client.list(Job)).rejects.toThrow('repeats its continue token');
  });

  it('pages report that they expired', async () => {
    const kinds: string[] = [];
    for await (const answer of setup([page(['a'], 't'), errorResponse(410, 'Expired', '')]).client.pages(Job))
      kinds.push(answer.kind);
    expect(kinds).toEqual(['page', 'expired']);
  });

  it('requests metadata only', async () => {
    const { client, server } = setup([page([])]);
    await client.list(metadataOf(Job));
    await client.get(metadataOf(Job), key).catch(() => {});
    expect(server.requests.map((request) => request.headers.accept)).toEqual([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    ]);
  });

  it('accepts more than a hundred thousand items in one list', async () => {
    const items = Array.from({ length: 150_000 }, (_, i) => ({ metadata: { name: `j${i}` } }));
    const { client } = setup([json(200, { metadata: { resourceVersion: '9' }, items })]);
    expect((await client.list(Job, { limit: 0 })).items).toHaveLength(150_000);
  });
});
