import { describe, expect, it } from 'vitest';
import { ConfigError } from './configFields.ts';
import { mergeKubeconfigs, parseKubeconfig } from './kubeconfigFile.ts';

const parse = (text: string, file = '/etc/kube') => parseKubeconfig(text, file);
const named = (section: string, field: string, ...names: string[]) =>
  `${section}:\n${names.map((name) => `- name: ${name}\n  ${field}: {mark: ${section}}\n`).join('')}`;

describe('one file', () => {
  it.each([
    ['an empty file', ''],
    ['null', 'null'],
    ['only a comment', '# nothing\n'],
    [
      'empty sections, as kubectl writes them',
      'apiVersion: v1\nkind: Config\nclusters: null\nusers: []\ncontexts:\ncurrent-context: ""\n',
    ],
    ['JSON', '{"apiVersion":"v1","kind":"Config","clusters":[]}'],
  ])('%s is an empty configuration', (_name, text) => {
    const config = parse(text);
    expect([config.clusters.size, config.users.size, config.contexts.size, config.currentContext]).toEqual([
      0,
      0,
      0,
      undefined,
    ]);
  });

  it('every scalar keeps its text: digits, booleans, leading zeros', () => {
    const config = parse(
      'users:\n- name: 007\n  user: {token: 00123456789012345678901234567890, password: true, username: 1e3}\n',
    );
    const fields = config.users.get('007')!.fields;
    expect([fields.text('token'), fields.text('password'), fields.text('username')]).toEqual([
      '00123456789012345678901234567890',
      'true',
      '1e3',
    ]);
  });

  it('prototype names are ordinary names', () => {
    const config = parse(named('users', 'user', '__proto__', 'constructor', 'toString'));
    expect([...config.users.keys()]).toEqual(['__proto__', 'constructor', 'toString']);
    expect(config.users.get('__proto__')?.fields.text('constructor')).toBeUndefined();
    expect(({} as { mark?: string }).mark).toBeUndefined();
  });

  it('anchors and merge keys work', () => {
    const config = parse(
      'x: &base {server: https://a}\nclusters:\n- name: c\n  cluster: {<<: *base, tls-server-name: n}\n',
    );
    expect(config.clusters.get('c')?.fields.text('server')).toBe('https://a');
  });

  it.each<[string, string, RegExp]>([
    ['not YAML', 'a: [1, 2', /^\/etc\/kube: not YAML: .* at line 1/],
    ['a tab', 'a:\n\t- b', /^\/etc\/kube: not YAML/],
    ['a list', '- a', /^\/etc\/kube: not a kubeconfig/],
    ['a string', 'hello', /^\/etc\/kube: not a kubeconfig/],
    ['another kind', 'kind: Pod', /^\/etc\/kube: kind: must be Config, not Pod/],
    ['clusters as a map', 'clusters: {a: b}', /^\/etc\/kube: clusters: must be a list, not a map/],
    ['a cluster that is a string', 'clusters: [a]', /^\/etc\/kube: clusters\[0\]: must be a map, not a text/],
    ['a user without a name', 'users:\n- user: {}', /^\/etc\/kube: users\[0\]\.name: is missing/],
    ['a body that is a list', 'users:\n- name: a\n  user: []', /^\/etc\/kube: user "a": must be a map/],
    ['a name twice', named('users', 'user', 'a', 'a'), /^\/etc\/kube: users\[1\]: duplicate user name "a"/],
    ['a key twice', 'kind: Config\nkind: Config', /^\/etc\/kube: not YAML: .*unique/],
    [
      'an alias bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((c, i) => `${c}: &${c} [${`*${'abcdefgh'[i]},`.repeat(9)}]\n`)
        .join('')}clusters: *i`,
      /^\/etc\/kube: invalid YAML/,
    ],
    [
      'current-context as a list',
      'current-context: [a]',
      /^\/etc\/kube: current-context: must be a text, not a list/,
    ],
  ])('rejects %s', (_name, text, message) => {
    expect(() => parse(text)).toThrow(ConfigError);
    expect(() => parse(text)).toThrow(message);
  });
});

describe('several files', () => {
  const merged = mergeKubeconfigs([
    parse('clusters:\n- name: a\n  cluster: {server: https://first}\n', '/1'),
    parse(
      'current-context: two\nclusters:\n- name: a\n  cluster: {server: https://second, tls-server-name: n}\n- name: b\n  cluster: {server: https://b}\n',
      '/2',
    ),
    parse('current-context: three\nusers:\n- name: u\n  user: {token: t}\n', '/3'),
  ]);

  it('the first file that names an entry defines all of it', () => {
    expect(merged.clusters.get('a')?.fields.text('server')).toBe('https://first');
    expect(merged.clusters.get('a')?.fields.text('tls-server-name')).toBeUndefined();
    expect(merged.clusters.get('a')?.file).toBe('/1');
  });

  it('entries of later files are added, each with its own file', () => {
    expect(merged.clusters.get('b')?.file).toBe('/2');
    expect(merged.users.get('u')?.file).toBe('/3');
  });

  it('the first current-context that is set wins', () => {
    expect(merged.currentContext).toBe('two');
    expect(merged.files).toEqual(['/1', '/2', '/3']);
  });
});
