import type { ServedKind } from '@lapse/kube/client/discovery';
import { describe, expect, test } from 'vitest';
import type { TargetReference } from '#api/cleaner';
import { describeTarget, findKind } from './kinds.ts';
import { Interests } from './watches.ts';

const served = (
  group: string,
  kind: string,
  resource: string,
  more: Partial<ServedKind> = {},
): ServedKind => ({
  group,
  version: 'v1',
  kind,
  resource,
  namespaced: true,
  verbs: ['get', 'list', 'watch', 'delete'],
  shortNames: [],
  categories: [],
  singular: kind.toLowerCase(),
  subresources: [],
  ...more,
});

const KNATIVE = 'serving.knative.dev';
const ALL: readonly ServedKind[] = [
  served('', 'Service', 'services'),
  served('', 'Node', 'nodes', { namespaced: false }),
  served('', 'Binding', 'bindings', { verbs: ['create'] }),
  served(KNATIVE, 'Service', 'services'),
  served(KNATIVE, 'Service', 'services', { version: 'v1beta1' }),
  served(KNATIVE, 'Revision', 'revisions'),
  served('odd.example.com', 'Thing', 'thingies', { singular: 'thingy' }),
  served('odd.example.com', 'THING', 'shouts'),
  served('odd.example.com', 'Things', 'others'),
];

describe('resolution of a reference to a kind', () => {
  const find = (apiGroup: string | undefined, kind: string, version?: string): string => {
    const reference: TargetReference = {
      kind,
      ...(apiGroup === undefined ? {} : { apiGroup }),
      ...(version === undefined ? {} : { version }),
    };
    const found = findKind(ALL, reference);
    return found.kind === 'found'
      ? describeTarget(found.served, found.served.kind)
      : found.kind === 'refused'
        ? found.why
        : 'not served';
  };
  test.each<[string | undefined, string, string | undefined, string]>([
    [undefined, 'Service', undefined, 'Service.services/v1'],
    ['', 'service', 'v1', 'Service.services/v1'],
    [KNATIVE, 'service', undefined, `Service.services.${KNATIVE}/v1`],
    [KNATIVE, 'SERVICES', undefined, `Service.services.${KNATIVE}/v1`],
    [KNATIVE, 'service', 'v1beta1', `Service.services.${KNATIVE}/v1beta1`],
    [KNATIVE, 'service', 'v2', 'not served'],
    [KNATIVE, 'pod', undefined, 'not served'],
    [KNATIVE, 'revision', undefined, `Revision.revisions.${KNATIVE}/v1`],
    ['odd.example.com', 'Thing', undefined, 'Thing.thingies.odd.example.com/v1'],
    ['odd.example.com', 'thing', undefined, '"thing" could be THING or Thing'],
    ['odd.example.com', 'thingies', undefined, 'Thing.thingies.odd.example.com/v1'],
    ['odd.example.com', 'thingy', undefined, 'Thing.thingies.odd.example.com/v1'],
    [undefined, 'node', undefined, 'Node is not a namespaced kind'],
    [undefined, 'binding', undefined, 'Binding cannot be read'],
    ['rbac.authorization.k8s.io', 'role', undefined, 'kinds of rbac.authorization.k8s.io may not be targets'],
    ['cleaner.vtex.dev', 'cleaner', undefined, 'kinds of cleaner.vtex.dev may not be targets'],
    ['lapse.dev', 'ttlpolicy', undefined, 'kinds of lapse.dev may not be targets'],
  ])('%j %s %j: %s', (group, kind, version, expected) => {
    expect(find(group, kind, version)).toBe(expected);
  });
});

describe('the index of interests', () => {
  const pods = { group: '', resource: 'pods', namespace: 'a' };
  const source = { kind: served('', 'Pod', 'pods'), namespace: 'a' };
  const pod = (name: string, labels = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'a', labels },
  });
  const woken = (interests: Interests, object: ReturnType<typeof pod>) =>
    [...interests.concerned(object, source)].map(({ name }) => name).sort();

  test('finds Cleaners by name and by labels, each once, and not after their removal', () => {
    const interests = new Interests();
    interests.set({ namespace: 'a', name: 'named' }, [
      { ...pods, name: 'p' },
      { ...pods, labels: { app: 'x' } },
    ]);
    interests.set({ namespace: 'a', name: 'labelled' }, [{ ...pods, labels: { app: 'x', tier: 'y' } }]);
    interests.set({ namespace: 'b', name: 'elsewhere' }, [{ ...pods, namespace: 'b', name: 'p' }]);
    interests.set({ namespace: 'a', name: 'other-kind' }, [{ ...pods, resource: 'jobs', name: 'p' }]);
    expect(woken(interests, pod('p', { app: 'x' }))).toEqual(['named']);
    expect(woken(interests, pod('q', { app: 'x', tier: 'y' }))).toEqual(['labelled', 'named']);
    expect(woken(interests, pod('q', { app: 'z' }))).toEqual([]);
    expect(woken(interests, pod('q', { constructor: 'x' }))).toEqual([]);
    interests.set({ namespace: 'a', name: 'named' }, []);
    expect(woken(interests, pod('p', { app: 'x' }))).toEqual([]);
    expect(interests.size).toBe(3);
  });
});
