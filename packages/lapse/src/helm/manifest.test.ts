import { describe, expect, test } from 'vitest';
import { asksToStay, parseManifest } from './manifest.ts';
import { document } from './release.testkit.ts';

const names = (manifest: string): string[] | string => {
  const parsed = parseManifest(manifest);
  return parsed.kind === 'corrupt'
    ? parsed.why
    : parsed.objects.map(
        ({ kind, name, namespace, keep }) =>
          `${namespace && `${namespace}/`}${kind}/${name}${keep ? ' (keep)' : ''}`,
      );
};

const annotated = (key: string, value: string) => `  annotations:\n    ${key}: ${value}\n`;

describe('manifests', () => {
  test.each<[string, string, string[] | string]>([
    ['nothing', '', []],
    ['blank documents and comments', '---\n\n---\n# only a comment\n---   \n', []],
    ['two documents', document('Service', 'a') + document('Pod', 'b'), ['Service/a', 'Pod/b']],
    ['text glued to the separator', '---apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n', ['Pod/a']],
    ['Windows line ends', document('Pod', 'a').replaceAll('\n', '\r\n'), ['Pod/a']],
    ['a namespace of its own', document('Pod', 'a', '  namespace: elsewhere\n'), ['elsewhere/Pod/a']],
    ['a hook among the objects', document('Job', 'a', annotated('helm.sh/hook', 'pre-delete')), []],
    ['keep', document('Pod', 'a', annotated('helm.sh/resource-policy', '" Keep "')), ['Pod/a (keep)']],
    [
      'an unknown policy: Helm leaves the object behind, so it is kept',
      document('Pod', 'a', annotated('helm.sh/resource-policy', 'delete')),
      ['Pod/a (keep)'],
    ],
    [
      'a List',
      'kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b, annotations: {helm.sh/resource-policy: keep}}}\n',
      ['Pod/a', 'Pod/b (keep)'],
    ],
    [
      'keep on a List applies to its items',
      `kind: List\napiVersion: v1\nmetadata:\n${annotated('helm.sh/resource-policy', 'keep')}items:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n`,
      ['Pod/a (keep)'],
    ],
    [
      'a RoleList whose items omit their kind',
      'kind: RoleList\napiVersion: rbac.authorization.k8s.io/v1\nitems:\n- {metadata: {name: a}}\n',
      ['Role/a'],
    ],
    [
      'a hook inside a List is an ordinary item',
      'kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Job, metadata: {name: a, annotations: {helm.sh/hook: pre-delete}}}\n',
      ['Job/a'],
    ],
    [
      'objects with generated names are ignored',
      'apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n',
      [],
    ],
    ['repeated keys', 'apiVersion: v1\nkind: Pod\nkind: Service\nmetadata: {name: a}\n', ['Service/a']],
    ['not YAML', 'kind: [', 'document 0 of the manifest cannot be read'],
    [
      'one unreadable document makes the manifest corrupt',
      `${document('Pod', 'a')}---\n{{ oops }`,
      'document 1 of the manifest cannot be read',
    ],
    [
      'a billion laughs',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
        .join('\n')}\n`,
      'document 0 of the manifest cannot be read',
    ],
    ['too many nested brackets', '['.repeat(100_000), 'document 0 of the manifest cannot be read'],
    ['too deep indentation', '- '.repeat(10_000), 'document 0 of the manifest cannot be read'],
    ['too many documents', document('Pod', 'a').repeat(5001), 'the manifest has more than 5000 objects'],
    [
      'prototype names',
      'apiVersion: v1\nkind: Pod\n__proto__: {kind: Secret}\nmetadata: {name: a, __proto__: {name: b}}\n',
      ['Pod/a'],
    ],
    ['metadata that is not a map', 'apiVersion: v1\nkind: Pod\nmetadata: 5\n', []],
    ['numbers for names', 'apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\n', []],
  ])('%s', (_, manifest, expected) => {
    expect(names(manifest)).toEqual(expected);
  });

  test('documents are in the order of Helm: the tenth before the second', () => {
    const many = Array.from({ length: 12 }, (_, i) => document('Pod', `p${i}`)).join('');
    expect(names(many)).toEqual([0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `Pod/p${i}`));
  });

  test('a live object with any resource policy is kept', () => {
    expect(asksToStay(undefined)).toBe(false);
    expect(asksToStay({})).toBe(false);
    expect(asksToStay({ 'helm.sh/resource-policy': 'keep' })).toBe(true);
    expect(asksToStay({ 'helm.sh/resource-policy': 'anything' })).toBe(true);
  });
});
