import { describe, expect, test } from 'vitest';
import { minutes, seconds } from '#base/instant';
import { MINUTE, reflectorKit, Thing } from './reflector.testkit.ts';
import type { Projection } from './source.ts';

const withTwo = (options: Parameters<typeof reflectorKit>[0] = {}) => {
  const kit = reflectorKit(options);
  kit.server.put('a');
  kit.server.put('b');
  return kit;
};

describe('listing', () => {
  test('a streaming list: one request for everything, then changes on the same stream', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    expect(handle.status).toMatchObject({ synced: false });
    await kit.settle();
    expect(handle.status).toEqual({ state: 'watching', synced: true });
    kit.server.put('c');
    kit.server.put('a');
    kit.server.delete('b');
    await kit.settle();
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.server.requests).toHaveLength(1);
    expect(kit.told).toEqual([
      { name: 'a', before: undefined, after: '101', initial: true },
      { name: 'b', before: undefined, after: '102', initial: true },
      { name: 'c', before: undefined, after: '103', initial: false },
      { name: 'a', before: '101', after: '104', initial: false },
      { name: 'b', before: '102', after: undefined, initial: false },
    ]);
  });

  test('a server without streaming lists is listed in pages, then watched', async () => {
    const kit = withTwo();
    kit.server.streamingLists = false;
    for (let i = 0; i < 1200; i++) kit.server.put(`x${i}`);
    const handle = kit.acquire();
    await kit.settle();
    await kit.settle();
    expect(handle.status.synced).toBe(true);
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.server.requests.map((r) => /watch|limit=500(?:&continue)?/.exec(r)?.[0])).toEqual([
      'watch',
      'limit=500',
      'limit=500',
      'limit=500',
      'watch',
    ]);
  });

  test('a server that ignores the question is recognised by a bookmark that does not end it', async () => {
    const kit = withTwo();
    kit.server.streamingLists = 'ignored';
    const handle = kit.acquire();
    await kit.settle();
    expect(kit.server.requests.map((r) => r.includes('watch'))).toEqual([true, false, true]);
    expect(kit.contents(handle)).toEqual(kit.truth());
  });

  test('one that is not even sent a bookmark, by its silence', async () => {
    const kit = withTwo({ liveness: { endAfter: [minutes(5), minutes(10)], silence: seconds(150) } });
    kit.server.inject({ kind: 'silent', after: 2 });
    const handle = kit.acquire();
    await kit.pass(150_000);
    expect(handle.status).toEqual({ state: 'watching', synced: true });
  });

  test('a streaming list that ends too early is begun again, after a pause', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'end', after: 1 });
    const handle = kit.acquire();
    await kit.settle();
    expect([kit.server.requests.length, handle.status.synced]).toEqual([1, false]);
    await kit.pass(1000);
    expect(handle.status).toEqual({ state: 'watching', synced: true });
    expect(kit.told.map((t) => t.name)).toEqual(['a', 'b']);
  });

  test('a list that changes while it is paged: every page is of one version, the watch brings the rest', async () => {
    const kit = reflectorKit({ listBy: 'pages' });
    for (let i = 0; i < 1000; i++) kit.server.put(`x${String(i).padStart(4, '0')}`);
    let changed = false;
    kit.server.before = (path) => {
      if (!path.includes('continue') || changed) return;
      changed = true;
      kit.server.delete('x0000');
      kit.server.delete('x0999');
      kit.server.put('x0000b');
    };
    const handle = kit.acquire();
    await kit.settle();
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.told.filter((t) => t.name === 'x0999').map((t) => t.after)).toEqual(['1100', undefined]);
  });

  test('pages that expire on the way are replaced by one answer', async () => {
    const kit = reflectorKit({ listBy: 'pages' });
    for (let i = 0; i < 1000; i++) kit.server.put(`x${i}`);
    let compacted = false;
    kit.server.before = (path) => {
      if (!path.includes('continue') || compacted) return;
      compacted = true;
      kit.server.put('late');
      kit.server.compact();
    };
    const handle = kit.acquire();
    await kit.pass(1000);
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.server.requests.filter((r) => !r.includes('limit') && !r.includes('watch'))).toHaveLength(1);
  });
});

describe('watching', () => {
  test('a watch that ends resumes from the last version: nothing is listed again, nothing told twice', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    await kit.settle();
    kit.server.endWatches();
    kit.server.put('d');
    await kit.settle();
    expect(kit.server.requests.at(-1)).toContain('resourceVersion=103');
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.told.map((t) => t.name)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('bookmarks move the version on, so that a quiet kind survives compaction', async () => {
    const kit = withTwo();
    kit.acquire();
    await kit.settle();
    kit.server.revision += 1000;
    kit.server.bookmark();
    await kit.settle();
    kit.server.compact();
    kit.server.endWatches();
    await kit.settle();
    expect(kit.server.requests.at(-1)).toContain('resourceVersion=1102');
    expect(kit.statuses).not.toContain('empty: watch expired');
  });

  test('410: lists again and tells only the differences, deletions included', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    await kit.settle();
    kit.server.inject({ kind: 'status', code: 500, reason: 'InternalError' });
    kit.server.endWatches();
    await kit.settle();
    kit.server.delete('a');
    kit.server.put('c');
    kit.server.put('b');
    kit.server.compact();
    kit.told.length = 0;
    await kit.pass(1000);
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.told).toEqual([
      { name: 'b', before: '102', after: '105', initial: false },
      { name: 'c', before: undefined, after: '104', initial: false },
      { name: 'a', before: '101', after: undefined, initial: false },
    ]);
  });

  test('an object that was deleted and made again under its name is told as a change of uid', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    await kit.settle();
    kit.server.inject({ kind: 'hang' });
    kit.server.endWatches();
    await kit.settle();
    kit.server.delete('a');
    const again = kit.server.put('a');
    kit.server.compact();
    await kit.pass(60_000);
    expect(handle.reader.get({ namespace: 'n', name: 'a' })?.metadata.uid).toBe(again.metadata.uid);
  });

  test('a stream cut in the middle of a line loses nothing', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'cut', after: 4 });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    kit.server.put('d');
    await kit.pass(1000);
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.told.map((t) => t.name)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a duplicated response is told once', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'duplicate' });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('a');
    kit.server.delete('b');
    kit.server.put('b');
    await kit.settle();
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.told.map((t) => `${t.name} ${t.after}`)).toEqual([
      'a 101',
      'b 102',
      'a 103',
      'b undefined',
      'b 105',
    ]);
  });

  test('a silent, half-open connection is noticed and replaced', async () => {
    const kit = withTwo({ liveness: { endAfter: [minutes(5), minutes(10)], silence: seconds(150) } });
    kit.server.inject({ kind: 'silent', after: 3 });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    await kit.pass(149_000);
    expect(handle.reader.size).toBe(2);
    await kit.pass(2000);
    expect(kit.contents(handle)).toEqual(kit.truth());
  });

  test('a watch is asked to end between the two times, in whole seconds', async () => {
    const kit = withTwo({ liveness: { endAfter: [minutes(5), minutes(10)], silence: seconds(150) } });
    kit.acquire();
    await kit.settle();
    const asked = Number(/timeoutSeconds=(\d+)/.exec(kit.server.requests[0]!)![1]);
    expect(asked).toBeGreaterThanOrEqual(300);
    expect(asked).toBeLessThanOrEqual(600);
  });

  test('a server that never answers is given up by the deadline, and asked again', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'hang' }, { kind: 'hang' });
    const handle = kit.acquire();
    await kit.pass(62_000);
    expect(kit.contents(handle)).toEqual(kit.truth());
  });
});

describe('never gives up, never hot', () => {
  test('429 with Retry-After: not a request before', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'status', code: 429, reason: 'TooManyRequests', retryAfter: 20 });
    const handle = kit.acquire();
    await kit.pass(19_999);
    expect(kit.server.requests).toHaveLength(1);
    await kit.pass(1);
    expect(handle.status.synced).toBe(true);
  });

  test('a server that answers 500 for a day is asked every half minute at most, and then served', async () => {
    const kit = withTwo();
    kit.server.inject(
      ...Array.from(
        { length: 10_000 },
        () => ({ kind: 'status', code: 500, reason: 'InternalError' }) as const,
      ),
    );
    const handle = kit.acquire();
    await kit.pass(60 * MINUTE);
    expect(kit.server.requests.length).toBeLessThan(60 * 4 + 12);
    expect(kit.statuses.at(-1)).toBe('empty: list unavailable');
    kit.server.heal();
    await kit.pass(30_000);
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(handle.status.problem).toBeUndefined();
  });

  test('a server that accepts watches and closes them at once is not asked in a loop', async () => {
    const kit = withTwo();
    kit.acquire();
    await kit.settle();
    kit.server.inject(
      ...Array.from({ length: 10_000 }, () => ({ kind: 'status', code: 503, reason: 'x' }) as const),
    );
    kit.server.endWatches();
    await kit.pass(10 * MINUTE);
    expect(kit.server.requests.length).toBeLessThan(60);
  });

  test('watch forbidden: reported, the cache refreshed by lists, at most every five minutes in the end', async () => {
    const kit = withTwo({ listBy: 'pages' });
    kit.server.before = (path) => {
      if (path.includes('watch')) kit.server.inject({ kind: 'status', code: 403, reason: 'Forbidden' });
    };
    const handle = kit.acquire();
    await kit.settle();
    expect(handle.status).toMatchObject({ synced: true, problem: { kind: 'forbidden', verb: 'watch' } });
    const since = handle.status.problem!.since;
    await kit.pass(30 * MINUTE);
    const before = kit.server.requests.length;
    kit.server.put('c');
    await kit.pass(60 * MINUTE);
    expect((kit.server.requests.length - before) / 2).toBeLessThanOrEqual(25);
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(handle.status.problem).toMatchObject({ kind: 'forbidden', verb: 'watch', since });
  });

  test('garbage in the stream is passed by listing again', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    await kit.settle();
    kit.server.inject(...Array.from({ length: 3 }, () => ({ kind: 'garbage', after: 0 }) as const));
    kit.server.endWatches();
    await kit.settle();
    kit.server.put('c');
    await kit.pass(5000);
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(handle.status).toEqual({ state: 'watching', synced: true });
  });
});

describe('what is kept', () => {
  const nameOnly: Projection<Thing> = {
    name: 'size',
    project: ({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, spec }) => ({
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion } as Thing['metadata'],
      spec: { size: spec?.size ?? 0 },
    }),
  };

  test('the projection is applied before anything is stored', async () => {
    const kit = reflectorKit({ source: { projection: nameOnly } });
    kit.server.put('a', { spec: { size: 3, owner: 'x' }, status: { large: 'y'.repeat(1000) } });
    const handle = kit.acquire();
    await kit.settle();
    expect(handle.reader.get({ namespace: 'n', name: 'a' })).toEqual({
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: { name: 'a', namespace: 'n', uid: 'u1', resourceVersion: '101' },
      spec: { size: 3 },
    });
  });

  test('a projection that loses the identity is reported, and the object not stored', async () => {
    const bad: Projection<Thing> = {
      name: 'bad',
      project: (o) => ({ ...o, metadata: { name: o.metadata.name! } }),
    };
    const kit = withTwo({ source: { projection: bad } });
    const handle = kit.acquire();
    await kit.settle();
    expect(handle.reader.size).toBe(0);
    expect(kit.errors[0]).toMatch(/projection bad does not keep metadata.namespace/);
  });

  test('one object that cannot be projected keeps its last good state and stops nobody', async () => {
    const picky: Projection<Thing> = {
      name: 'picky',
      project(o) {
        if (o.spec?.size === 13) throw new Error('unlucky');
        return o;
      },
    };
    const kit = withTwo({ source: { projection: picky } });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('a', { spec: { size: 13 } });
    kit.server.put('b', { spec: { size: 14 } });
    kit.server.compact();
    kit.server.endWatches();
    await kit.pass(1000);
    expect(kit.contents(handle)).toEqual(['a@101', 'b@104']);
    expect(kit.errors).toContain('Error: unlucky');
  });

  test('managedFields are dropped unless somebody asks for them', async () => {
    const kit = reflectorKit();
    kit.server.put('a');
    Object.assign(kit.server.objects.get('a')!.metadata, { managedFields: [{}] });
    const handle = kit.acquire();
    await kit.settle();
    expect(handle.reader.get({ namespace: 'n', name: 'a' })?.metadata).not.toHaveProperty('managedFields');
  });

  test('namespace, selectors and metadata-only go into the request', async () => {
    const kit = reflectorKit({
      source: {
        namespace: 'n',
        labelSelector: 'a=b',
        fieldSelector: 'status.phase!=Running',
        kind: { ...Thing, representation: 'metadata' },
      },
    });
    kit.acquire();
    await kit.settle();
    expect(kit.server.requests[0]).toMatch(/^\/api\/v1\/namespaces\/n\/things\?/);
    expect(kit.server.requests[0]).toContain('labelSelector=a%3Db');
    expect(kit.server.requests[0]).toContain('fieldSelector=status.phase!%3DRunning');
  });
});

describe('sharing', () => {
  test('equal sources are one watch; the last to leave stops it and nothing is kept', async () => {
    const kit = withTwo();
    const first = kit.acquire();
    const second = kit.acquire();
    await kit.settle();
    expect(kit.server.watches).toBe(1);
    expect([...kit.caches.statuses()]).toHaveLength(1);
    first.release();
    first.release();
    await kit.settle();
    expect(kit.server.watches).toBe(1);
    second.release();
    await kit.settle();
    expect([kit.server.watches, kit.interner.size, kit.caches.busy]).toEqual([0, 0, 0]);
  });

  test('another namespace, selector, projection or representation is another watch', async () => {
    const kit = withTwo();
    kit.caches.acquire({ kind: Thing });
    kit.caches.acquire({ kind: Thing, namespace: 'n' });
    kit.caches.acquire({ kind: Thing, labelSelector: 'a=b' });
    kit.caches.acquire({ kind: Thing, projection: { name: 'same', project: (o) => o } });
    kit.caches.acquire({ kind: { ...Thing, representation: 'metadata' } });
    await kit.settle();
    expect([...kit.caches.statuses()]).toHaveLength(5);
    await kit.caches.close();
    expect(kit.server.watches).toBe(0);
  });

  test('who comes late is told what is there, as initial', async () => {
    const kit = withTwo();
    kit.acquire();
    await kit.settle();
    kit.told.length = 0;
    const late = kit.acquire();
    expect(kit.told.map((t) => [t.name, t.initial])).toEqual([
      ['a', true],
      ['b', true],
    ]);
    late.release();
    kit.server.put('c');
    await kit.settle();
    expect(kit.told).toHaveLength(3);
  });

  test('a listener that throws stops neither the stream nor the other listeners', async () => {
    const kit = withTwo();
    const broken = kit.caches.acquire({ kind: Thing });
    broken.listen(() => {
      throw new Error('handler');
    });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    await kit.settle();
    expect(kit.contents(handle)).toEqual(kit.truth());
    expect(kit.told).toHaveLength(3);
    expect(kit.errors).toHaveLength(3);
  });

  test('status listeners hear of problems and of their end', async () => {
    const kit = withTwo();
    const heard: string[] = [];
    kit.server.inject({ kind: 'status', code: 404, reason: 'NotFound' });
    const handle = kit.acquire();
    handle.onStatus(({ state, problem }) => heard.push(`${state} ${problem?.kind ?? 'well'}`));
    await kit.pass(1000);
    expect(heard).toEqual(['empty notServed', 'watching well']);
  });

  test('the cache knows whether it is behind a version', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    await kit.settle();
    expect([handle.isBehind('102'), handle.isBehind('103'), handle.isBehind('not a number')]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
