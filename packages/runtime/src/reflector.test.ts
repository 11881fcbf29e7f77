import { minutes, seconds } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { reflectorKit, withTwo } from './reflector.testkit.ts';

describe('Reflector: list', () => {
  test('receives all objects and later changes in one streaming list request', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    expect(handle.status).toMatchObject({ synced: false });
    await kit.settle();
    expect(handle.status).toEqual({ state: 'watching', synced: true });
    kit.server.put('c');
    kit.server.put('a');
    kit.server.delete('b');
    await kit.settle();
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.server.requests).toHaveLength(1);
    expect(kit.changes).toEqual([
      { name: 'a', before: undefined, after: '101', initial: true },
      { name: 'b', before: undefined, after: '102', initial: true },
      { name: 'c', before: undefined, after: '103', initial: false },
      { name: 'a', before: '101', after: '104', initial: false },
      { name: 'b', before: '102', after: undefined, initial: false },
    ]);
  });

  test('lists in pages, then watches, when the server rejects streaming lists', async () => {
    const kit = withTwo();
    kit.server.streamingLists = false;
    for (let i = 0; i < 1200; i++) kit.server.put(`x${i}`);
    const handle = kit.acquire();
    await kit.settle();
    await kit.settle();
    expect(handle.status.synced).toBe(true);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.server.requests.map((r) => /watch|limit=500(?:&continue)?/.exec(r)?.[0])).toEqual([
      'watch',
      'limit=500',
      'limit=500',
      'limit=500',
      'watch',
    ]);
  });

  test('lists in pages when the server ignores sendInitialEvents and sends an ordinary bookmark', async () => {
    const kit = withTwo();
    kit.server.streamingLists = 'ignored';
    const handle = kit.acquire();
    await kit.settle();
    expect(kit.server.requests.map((r) => r.includes('watch'))).toEqual([true, false, true]);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
  });

  test('lists in pages when the server ignores sendInitialEvents and sends nothing', async () => {
    const kit = withTwo({ liveness: { endAfter: [minutes(5), minutes(10)], silence: seconds(150) } });
    kit.server.inject({ kind: 'silent', after: 2 });
    const handle = kit.acquire();
    await kit.pass(150_000);
    expect(handle.status).toEqual({ state: 'watching', synced: true });
  });

  test('restarts a streaming list that ends early, after a pause', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'end', after: 1 });
    const handle = kit.acquire();
    await kit.settle();
    expect([kit.server.requests.length, handle.status.synced]).toEqual([1, false]);
    await kit.pass(1000);
    expect(handle.status).toEqual({ state: 'watching', synced: true });
    expect(kit.changes.map((t) => t.name)).toEqual(['a', 'b']);
  });

  test('reads all pages at one version and receives later changes from the watch', async () => {
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
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.changes.filter((t) => t.name === 'x0999').map((t) => t.after)).toEqual(['1100', undefined]);
  });

  test('lists without paging when the continue token expires', async () => {
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
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.server.requests.filter((r) => !r.includes('limit') && !r.includes('watch'))).toHaveLength(1);
  });
});

describe('Reflector: streaming list', () => {
  const lists = (requests: readonly string[]) =>
    requests
      .filter((r) => !r.includes('watch=true') || r.includes('sendInitialEvents'))
      .map((r) => (r.includes('sendInitialEvents') ? 'stream' : 'pages'));

  test('is tried again after watching was forbidden once', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'status', code: 403, reason: 'Forbidden' });
    const handle = kit.acquire();
    await kit.settle();
    expect(lists(kit.server.requests)).toEqual(['stream', 'pages']);
    kit.server.put('c');
    kit.server.compact();
    kit.server.inject({ kind: 'status', code: 410, reason: 'Expired' });
    kit.server.endWatches();
    await kit.pass(1000);
    expect(lists(kit.server.requests)).toEqual(['stream', 'pages', 'stream']);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
  });

  test('is not retried in a hot loop while watching is forbidden', async () => {
    const kit = withTwo();
    kit.server.before = (path) => {
      if (path.includes('watch=true')) kit.server.inject({ kind: 'status', code: 403, reason: 'Forbidden' });
    };
    const handle = kit.acquire();
    await kit.pass(600_000);
    expect(kit.server.requests.length).toBeLessThan(45);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
  });

  test('continues when an object is deleted before the list is complete', async () => {
    const kit = withTwo();
    kit.server.deletedDuringList = 'a';
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    await kit.settle();
    expect(lists(kit.server.requests)).toEqual(['stream']);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.interner.size).toBe(2);
  });

  test('converges when an object is deleted and another one is added during a relist', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    await kit.settle();
    // The object is cached but removed from the server without an event. Only the list reveals it.
    kit.server.delete('b');
    kit.server.put('c');
    kit.server.compact();
    kit.server.deletedDuringList = 'a';
    kit.server.inject({ kind: 'status', code: 410, reason: 'Expired' });
    kit.server.endWatches();
    await kit.pass(1000);
    kit.server.put('d');
    await kit.settle();
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.interner.size).toBe(2);
  });
});

describe('Reflector: watch', () => {
  test('resumes an ended watch from the last version, without a relist or duplicate changes', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    await kit.settle();
    kit.server.endWatches();
    kit.server.put('d');
    await kit.settle();
    expect(kit.server.requests.at(-1)).toContain('resourceVersion=103');
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.changes.map((t) => t.name)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('advances the version on bookmarks, so that a kind without changes survives compaction', async () => {
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

  test('relists after a 410 and delivers only the differences, including deletions', async () => {
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
    kit.changes.length = 0;
    await kit.pass(1000);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.changes).toEqual([
      { name: 'b', before: '102', after: '105', initial: false },
      { name: 'c', before: undefined, after: '104', initial: false },
      { name: 'a', before: '101', after: undefined, initial: false },
    ]);
  });

  test('delivers a recreated object as a change of the uid', async () => {
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

  test('loses nothing when the stream is cut in the middle of a line', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'cut', after: 4 });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    kit.server.put('d');
    await kit.pass(1000);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.changes.map((t) => t.name)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('delivers a duplicated response once', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'duplicate' });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('a');
    kit.server.delete('b');
    kit.server.put('b');
    await kit.settle();
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.changes.map((t) => `${t.name} ${t.after}`)).toEqual([
      'a 101',
      'b 102',
      'a 103',
      'b undefined',
      'b 105',
    ]);
  });

  test('replaces a half-open connection that sends nothing', async () => {
    const kit = withTwo({ liveness: { endAfter: [minutes(5), minutes(10)], silence: seconds(150) } });
    kit.server.inject({ kind: 'silent', after: 3 });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    await kit.pass(149_000);
    expect(handle.reader.size).toBe(2);
    await kit.pass(2000);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
  });

  test('requests timeoutSeconds within the configured range, in whole seconds', async () => {
    const kit = withTwo({ liveness: { endAfter: [minutes(5), minutes(10)], silence: seconds(150) } });
    kit.acquire();
    await kit.settle();
    const asked = Number(/timeoutSeconds=(\d+)/.exec(kit.server.requests[0]!)![1]);
    expect(asked).toBeGreaterThanOrEqual(300);
    expect(asked).toBeLessThanOrEqual(600);
  });

  test('retries after the deadline when the server does not respond', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'hang' }, { kind: 'hang' });
    const handle = kit.acquire();
    await kit.pass(62_000);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
  });
});
