import type { ServedKind } from '@lapse/kube/client/discovery';
import { describe, expect, test } from 'vitest';
import { addressOf, computeCollected, groupKindOf, keyOfObject, resourceId } from './kinds.ts';

const served = (id: string, verbs = 'delete list watch', namespaced = true): ServedKind => {
  const [group = '', version = '', resource = ''] = id.split('/');
  const names = { kind: resource, singular: '', shortNames: [], categories: [], subresources: [] };
  return { group, version, resource, namespaced, verbs: verbs.split(' '), ...names };
};

test('collects kinds that can be listed, watched and deleted, once each in the first version, without Events', () =>
  expect(
    computeCollected([
      served('/v1/pods'),
      served('/v1/events'),
      served('/v1/bindings', 'create'),
      served('/v1/componentstatuses', 'get list', false),
      served('events.k8s.io/v1/events'),
      served('x.dev/v2/events'),
      served('x.dev/v2/things'),
      served('x.dev/v1/things'),
      served('x.dev/v1/old'),
    ]).map((kind) => `${kind.group}/${kind.version}/${kind.resource} ${kind.representation}`),
  ).toEqual([
    '/v1/pods metadata',
    'x.dev/v2/events metadata',
    'x.dev/v2/things metadata',
    'x.dev/v1/old metadata',
  ]));

describe('keys name objects of every kind', () => {
  test.each([
    [served('/v1/pods'), { namespace: 'n', name: 'p' }, 'n', 'pods/p'],
    [served('batch/v1/jobs'), { namespace: 'n', name: 'p.q' }, 'n', 'jobs.batch/p.q'],
    [served('/v1/nodes', '', false), { name: 'n1' }, 'nodes', 'n1'],
    [served('x.dev/v1/things', '', false), { name: 'a:b' }, 'things.x.dev', 'a:b'],
  ])('%j', (kind, metadata, namespace, name) => {
    const key = keyOfObject(kind, metadata);
    expect(key).toEqual({ namespace, name });
    expect(addressOf(key)).toEqual({ resource: resourceId(kind), key: metadata });
  });
  test('except one, which stands for the cluster', () =>
    expect(addressOf({ name: 'kube-system' })).toBeUndefined());
});

test.each([
  ['v1', 'Pod', '/Pod'],
  ['batch/v1', 'Job', 'batch/Job'],
  ['a/b/c', 'X', 'a/X'],
  ['', '', '/'],
])('%j %j is the kind %j', (apiVersion, kind, id) => expect(groupKindOf(apiVersion, kind)).toBe(id));
