import { VERSION } from '@lapse/base/version';
import { describe, expect, it } from 'vitest';
import { type Client, objectOf } from './client.ts';
import { exists, Job, job, key, PATH, setup } from './jobs.testkit.ts';
import { bytes, json } from './testkit.ts';

describe('writes', () => {
  it('sends content type, field manager, dry run and field validation', async () => {
    const { client, server } = setup([json(201, job())]);
    const { apiVersion: _, kind: __, ...bare } = job();
    await client.create(Job, bare as Job, { dryRun: true, fieldValidation: 'Strict' });
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: `${PATH}?dryRun=All&fieldManager=lapse&fieldValidation=Strict`,
      headers: {
        'user-agent': `lapse/${VERSION}`,
        accept: 'application/json',
        'content-type': 'application/json',
      },
    });
    expect(server.bodyOf(0)).toMatchObject({ apiVersion: 'batch/v1', kind: 'Job' });
  });

  it('writes to subresources', async () => {
    const { client, server } = setup([json(200, job())], { fieldManager: 'me' });
    await client.update(Job, job(), { subresource: 'status' });
    await client.patch(Job, key, { type: 'merge', patch: { status: {} } }, { subresource: 'status' });
    await client.create(Job, job(), { subresource: 'eviction' });
    await client.get(Job, key, { subresource: 'scale' });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `PUT ${PATH}/a/status?fieldManager=me`,
      `PATCH ${PATH}/a/status?fieldManager=me`,
      `POST ${PATH}/a/eviction?fieldManager=me`,
      `GET ${PATH}/a/scale`,
    ]);
  });

  it.each<[string, Parameters<Client['patch']>[2], object, string, unknown]>([
    ['merge', { type: 'merge', patch: { a: null } }, {}, 'application/merge-patch+json', { a: null }],
    [
      'merge, guarded',
      { type: 'merge', patch: { metadata: { labels: { x: 'y' } } } },
      { ifVersion: '5', ifUid: 'u1' },
      'application/merge-patch+json',
      { metadata: { labels: { x: 'y' }, resourceVersion: '5', uid: 'u1' } },
    ],
    [
      'strategic, guarded',
      { type: 'strategic', patch: { spec: {} } },
      { ifVersion: '5' },
      'application/strategic-merge-patch+json',
      { spec: {}, metadata: { resourceVersion: '5' } },
    ],
    [
      'json',
      { type: 'json', operations: [{ op: 'remove', path: '/a' }] },
      {},
      'application/json-patch+json',
      [{ op: 'remove', path: '/a' }],
    ],
    [
      'json, guarded',
      { type: 'json', operations: [{ op: 'remove', path: '/a' }] },
      { ifVersion: '5', ifUid: 'u1' },
      'application/json-patch+json',
      [
        { op: 'replace', path: '/metadata/uid', value: 'u1' },
        { op: 'replace', path: '/metadata/resourceVersion', value: '5' },
        { op: 'remove', path: '/a' },
      ],
    ],
  ])('%s patch', async (_name, patch, options, contentType, body) => {
    const { client, server } = setup([json(200, job())]);
    await client.patch(Job, key, patch, options);
    expect(server.requests[0]).toMatchObject({
      method: 'PATCH',
      path: `${PATH}/a?fieldManager=lapse`,
      headers: { 'content-type': contentType },
    });
    expect(server.bodyOf(0)).toEqual(body);
  });

  it('a guarded patch does not modify the caller’s patch', async () => {
    const patch = Object.freeze({ metadata: Object.freeze({ labels: { a: 'b' } }) });
    await setup([json(200, job())]).client.patch(Job, key, { type: 'merge', patch }, { ifVersion: '5' });
    expect(patch).toEqual({ metadata: { labels: { a: 'b' } } });
  });

  it('apply reports whether it created the object', async () => {
    const { client, server } = setup([json(201, job()), json(200, job())]);
    expect(await client.apply(Job, job(), { force: true, fieldManager: 'me' })).toMatchObject({
      kind: 'applied',
      created: true,
    });
    expect(await client.apply(Job, job())).toMatchObject({ kind: 'applied', created: false });
    expect(server.requests[0]).toMatchObject({
      path: `${PATH}/a?fieldManager=me&force=true`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  });

  it('objectOf returns the object or throws the error', async () => {
    expect(objectOf(await setup([json(201, job())]).client.create(Job, job())).metadata.uid).toBe('u1');
    const existing = await setup([exists]).client.create(Job, job());
    expect(() => objectOf(existing)).toThrow('already exists');
  });
});

describe('options of all verbs', () => {
  it('reports warnings, several per header line or in several lines', async () => {
    const warnings: string[] = [];
    const warning = ['299 - "one \\"quoted\\"", 299 - "two"', '299 - "three"'];
    await setup([json(200, job(), { warning })], { onWarning: (text) => warnings.push(text) }).client.get(
      Job,
      key,
    );
    expect(warnings).toEqual(['one "quoted"', 'two', 'three']);
  });

  it('raw returns the response unchanged', async () => {
    const { client, server } = setup([{ status: 500, headers: { a: 'b' }, body: bytes('oops') }]);
    const answer = await client.raw({
      method: 'GET',
      path: '/livez?verbose',
      headers: { accept: 'text/plain' },
    });
    expect([answer.status, Buffer.from(answer.body).toString()]).toEqual([500, 'oops']);
    expect(server.requests[0]?.headers).toEqual({ accept: 'text/plain', 'user-agent': `lapse/${VERSION}` });
  });
});
