import { expect, test } from 'vitest';
import type { ManifestObject } from './manifest.ts';
import { inUninstallOrder } from './order.ts';

const objects = (...refs: readonly string[]): ManifestObject[] =>
  refs.map((ref) => {
    const [kind = '', name = ''] = ref.split('/');
    return { apiVersion: 'v1', kind, namespace: '', name, keep: false };
  });

const sorted = (...refs: readonly string[]): string[] =>
  inUninstallOrder(objects(...refs)).map(({ kind, name }) => `${kind}/${name}`);

test.each([
  ['objects of one known kind keep their order', ['Secret/b', 'Secret/a', 'Secret/c']],
  ['objects of one unknown kind keep their order', ['Widget/b', 'Widget/a', 'Widget/c']],
  ['unknown kinds are in alphabetical order', ['Apple/x', 'Banana/x', 'Cherry/x']],
  ['a Namespace is removed after everything inside it', ['Deployment/a', 'Secret/a', 'Namespace/a']],
  [
    'a Service is removed before the objects behind it',
    ['APIService/a', 'Ingress/a', 'Service/a', 'Deployment/a'],
  ],
])('%s', (_, expected) => {
  expect(sorted(...expected)).toEqual(expected);
});

test.each([
  ['unknown kinds', ['Cherry/x', 'Apple/x', 'Banana/x'], ['Apple/x', 'Banana/x', 'Cherry/x']],
  [
    'a kind that Helm does not know, between ClusterRoles and CustomResourceDefinitions,',
    ['PersistentVolumeClaim/a', 'CustomResourceDefinition/a', 'Widget/a', 'ClusterRole/a'],
    ['ClusterRole/a', 'Widget/a', 'CustomResourceDefinition/a', 'PersistentVolumeClaim/a'],
  ],
  [
    'names that come before CustomResourceDefinition in the alphabet',
    ['CustomResourceDefinition/a', 'Apple/a', 'ClusterRole/a'],
    ['ClusterRole/a', 'Apple/a', 'CustomResourceDefinition/a'],
  ],
  ['known kinds', ['Namespace/a', 'Secret/a', 'Deployment/a'], ['Deployment/a', 'Secret/a', 'Namespace/a']],
])('%s are sorted', (_, given, expected) => {
  expect(sorted(...given)).toEqual(expected);
});
