import { describe, expect, test } from 'vitest';
import { reflectorKit, Thing, withTwo } from './reflector.testkit.ts';
import type { Projection } from './source.ts';

describe('Caches: projection', () => {
  const nameOnly: Projection<Thing> = {
    name: 'size',
    project: ({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, spec }) => ({
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion } as Thing['metadata'],
      spec: { size: spec?.size ?? 0 },
    }),
  };

  test('applies the projection before an object is stored', async () => {
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

  test('reports a projection that drops the identity and does not store the object', async () => {
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

  test('keeps the last valid state of an object that cannot be projected and continues with other objects', async () => {
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

  test('drops managedFields by default', async () => {
    const kit = reflectorKit();
    kit.server.put('a');
    Object.assign(kit.server.objects.get('a')!.metadata, { managedFields: [{}] });
    const handle = kit.acquire();
    await kit.settle();
    expect(handle.reader.get({ namespace: 'n', name: 'a' })?.metadata).not.toHaveProperty('managedFields');
  });

  test('sends the namespace, the selectors and the metadata-only representation in the request', async () => {
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

describe('Caches: sharing', () => {
  test('shares one watch between equal sources and stops it when the last handle is released', async () => {
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

  test('opens separate watches for different namespaces, selectors, projections and representations', async () => {
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

  test('sends the cached objects to a late listener as initial changes', async () => {
    const kit = withTwo();
    kit.acquire();
    await kit.settle();
    kit.changes.length = 0;
    const late = kit.acquire();
    expect(kit.changes.map((t) => [t.name, t.initial])).toEqual([
      ['a', true],
      ['b', true],
    ]);
    late.release();
    kit.server.put('c');
    await kit.settle();
    expect(kit.changes).toHaveLength(3);
  });

  test('continues the stream and the other listeners when a listener throws', async () => {
    const kit = withTwo();
    const broken = kit.caches.acquire({ kind: Thing });
    broken.listen(() => {
      throw new Error('handler');
    });
    const handle = kit.acquire();
    await kit.settle();
    kit.server.put('c');
    await kit.settle();
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(kit.changes).toHaveLength(3);
    expect(kit.errors).toHaveLength(3);
  });

  test('notifies status listeners when a problem starts and ends', async () => {
    const kit = withTwo();
    const statuses: string[] = [];
    kit.server.inject({ kind: 'status', code: 404, reason: 'NotFound' });
    const handle = kit.acquire();
    handle.onStatus(({ state, problem }) => statuses.push(`${state} ${problem?.kind ?? 'well'}`));
    await kit.pass(1000);
    expect(statuses).toEqual(['empty notServed', 'watching well']);
  });

  test('reports whether the cache is behind a version', async () => {
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
