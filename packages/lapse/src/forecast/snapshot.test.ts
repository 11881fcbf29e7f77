// Reading for a plan: each source once where possible, reduced immediately, and with a report of what may not be
// read.

import type { Kind } from '@lapse/kube/api/kind';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { PageResult } from '@lapse/kube/client/read';
import { TransportError } from '@lapse/kube/client/transport';
import type { Projection, Source } from '@lapse/runtime/source';
import { describe, expect, test } from 'vitest';
import { Unreadable } from '#controllers/forecaster';
import { createSnapshot, readingFrom } from './snapshot.ts';

const job = (name: string): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'ns', uid: name, managedFields: [] },
});

interface Asked {
  readonly kind: string;
  readonly limit?: number;
  readonly fieldSelector?: string;
  readonly namespace?: string;
  /** Page number. */
  readonly at?: number;
}

/** Answers with these pages in order, or throws. A new list starts with the first page. */
function fakeClient(answer: (asked: Asked, time: number) => PageResult<KubeObject>[] | Error) {
  const asked: Asked[] = [];
  const client = {
    async listPage(kind: Kind, { continue: token, ...options }: Omit<Asked, 'kind'> & { continue?: string }) {
      const at = Number(token ?? 0);
      asked.push({ kind: kind.kind, ...options, ...(at === 0 ? {} : { at }) });
      const pages = answer(asked.at(-1)!, asked.length);
      if (pages instanceof Error) throw pages;
      const page = pages[at]!;
      return at + 1 < pages.length && page.kind === 'page' ? { ...page, continue: String(at + 1) } : page;
    },
  };
  return { client: client as unknown as Client, asked };
}
const page = (...items: KubeObject[]): PageResult<KubeObject> => ({
  kind: 'page',
  items,
  resourceVersion: '1',
});
const expired: PageResult<KubeObject> = {
  kind: 'expired',
  error: new ApiError(410, 'Expired', 'too old'),
};
const refusal = (code: number) => new ApiError(code, 'Forbidden', 'jobs is forbidden');

const names: Projection<KubeObject> = {
  name: 'names',
  project: ({ metadata: { name = '' } }) => ({ apiVersion: '', kind: '', metadata: { name } }),
};
const source: Source = { kind: Job as Kind, projection: names };
const all = async (snapshot: ReturnType<typeof createSnapshot>, of: Source = source) =>
  (await Array.fromAsync(snapshot.each(of))).flat().map(({ metadata }) => metadata.name);

describe('reading', () => {
  test('pages are reduced as they arrive', async () => {
    const { client } = fakeClient(() => [page(job('a')), page(job('b'))]);
    const objects = await readingFrom(client)(source);
    expect(objects).toEqual([names.project(job('a')), names.project(job('b'))]);
  });

  test('without a projection everything except managedFields is kept', async () => {
    const { client } = fakeClient(() => [page(job('a'))]);
    const [found] = await readingFrom(client)({ kind: Job as Kind });
    expect(found?.metadata).toEqual({ name: 'a', namespace: 'ns', uid: 'a' });
  });

  test('expired pages are read again in a single response, without duplicates', async () => {
    const { client, asked } = fakeClient(({ limit }) =>
      limit === 0 ? [page(job('a'), job('b'))] : [page(job('a')), expired],
    );
    expect((await readingFrom(client)(source)).map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(asked.map(({ limit, at }) => [limit, at])).toEqual([
      [500, undefined],
      [2000, 1],
      [0, undefined],
    ]);
  });

  test('the next page is requested before the current one is processed', async () => {
    const { client, asked } = fakeClient(() => [page(job('a')), page(job('b')), page(job('c'))]);
    const before: number[] = [];
    const project = (object: KubeObject) => {
      before.push(asked.length);
      return object;
    };
    await readingFrom(client)({ kind: Job as Kind, projection: { name: 'x', project } });
    expect(before).toEqual([2, 3, 3]);
  });

  test.each<[string, unknown, number]>([
    ['small', 'x'.repeat(100), 2000],
    ['full of long numbers', 2n ** 60n, 2000],
    ['of twenty kilobytes', 'x'.repeat(20_000), 416],
    ['of a megabyte', 'x'.repeat(1_000_000), 20],
  ])('objects that are %s are read in pages of a suitable size', async (_, data, limit) => {
    const large = { ...job('a'), data };
    const { client, asked } = fakeClient(() => [page(large), page(job('b'))]);
    await readingFrom(client)(source);
    expect(asked.map((one) => one.limit)).toEqual([500, limit]);
  });

  test('a response that is too large is requested in smaller pages', async () => {
    const { client, asked } = fakeClient(({ limit }) =>
      limit! > 50 ? new TransportError('malformed', 'too large', { sent: true }) : [page(job('a'))],
    );
    expect(await readingFrom(client)(source)).toHaveLength(1);
    expect(asked.map(({ limit }) => limit)).toEqual([500, 100, 20]);
  });

  test('an API server that repeats the same page is not read forever', async () => {
    const client = {
      listPage: async () => ({ ...page(job('a')), continue: 'x' }),
    } as unknown as Client;
    await expect(readingFrom(client)(source)).rejects.toThrow('repeats its continue token');
  });

  test.each([403, 404, 405])('%d means that the source cannot be read', async (code) => {
    const { client } = fakeClient(() => refusal(code));
    await expect(readingFrom(client)(source)).rejects.toThrow(Unreadable);
    await expect(readingFrom(client)(source)).rejects.toThrow('batch/v1/jobs as names: jobs is forbidden');
  });

  test.each([401, 429, 500])('%d is a failure', async (code) => {
    const { client } = fakeClient(() => refusal(code));
    await expect(readingFrom(client)(source)).rejects.toThrow(ApiError);
  });

  test('a witness receives complete objects, and a call at the end of the source', async () => {
    const { client } = fakeClient(() => [page(job('a'))]);
    const seen: unknown[] = [];
    const witness = {
      see: (_: Kind, { metadata }: KubeObject) => seen.push(metadata.uid),
      saw: ({ kind }: Source) => seen.push(kind.kind),
    };
    await readingFrom(client, { witness })(source);
    expect(seen).toEqual(['a', 'Job']);
  });
});

describe('a snapshot', () => {
  test('lists the same source once, another projection again, and each page of `each` again', async () => {
    const { client, asked } = fakeClient(() => [page(job('a'))]);
    const snapshot = createSnapshot([], readingFrom(client));
    await snapshot.list(source);
    await snapshot.list({ ...source });
    expect(asked).toHaveLength(1);
    await snapshot.list({ ...source, projection: { ...names } });
    await all(snapshot);
    await all(snapshot);
    expect(asked).toHaveLength(4);
  });

  test('for one object reads only that object, in its namespace, and nothing of other kinds', async () => {
    const { client, asked } = fakeClient(() => [page(job('a'))]);
    const focus = { group: 'batch', kind: 'Job', namespace: 'ns', name: 'a' };
    const snapshot = createSnapshot([], readingFrom(client), focus);
    await all(snapshot);
    await all(snapshot, { ...source, fieldSelector: 'x=y' });
    await all(snapshot, { ...source, namespace: 'other' });
    await all(snapshot, { kind: Pod as Kind });
    expect(asked).toEqual([
      { kind: 'Job', limit: 500, namespace: 'ns', fieldSelector: 'metadata.name=a' },
      { kind: 'Job', limit: 500, namespace: 'ns', fieldSelector: 'x=y,metadata.name=a' },
    ]);
    await snapshot.list({ kind: Pod as Kind });
    expect(asked).toHaveLength(3);
  });
});
