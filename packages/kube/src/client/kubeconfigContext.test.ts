import { describe, expect, it } from 'vitest';
import { resolveContext, type Selection } from './kubeconfigContext.ts';
import { parseKubeconfig } from './kubeconfigFile.ts';

const b64 = (text: string) => Buffer.from(text).toString('base64');

/** A kubeconfig in /k/config whose only context has this cluster and this user. */
const config = (cluster: string, user = '{}', context = 'cluster: c, user: u') =>
  parseKubeconfig(
    `current-context: x\ncontexts:\n- name: x\n  context: {${context}}\nclusters:\n- name: c\n  cluster: ${cluster}\nusers:\n- name: u\n  user: ${user}\n`,
    '/k/config',
  );
const S = 'server: https://api:6443';
const resolve = (cluster: string, user?: string, context?: string, selection?: Selection) =>
  resolveContext(config(cluster, user, context), selection);

describe('clusters', () => {
  it.each<[string, string, object]>([
    [
      'a server',
      `{${S}}`,
      {
        server: 'https://api:6443',
        insecure: false,
        namespace: 'default',
        description: 'context "x" of /k/config',
        auth: { kind: 'none' },
      },
    ],
    [
      'an inline CA',
      `{${S}, certificate-authority-data: ${b64('PEM')}}`,
      { ca: { pem: 'PEM', field: '/k/config: cluster "c": certificate-authority-data' } },
    ],
    [
      'a CA file relative to the kubeconfig',
      `{${S}, certificate-authority: pki/ca.crt}`,
      { ca: { path: '/k/pki/ca.crt', field: '/k/config: cluster "c": certificate-authority' } },
    ],
    ['an absolute CA file', `{${S}, certificate-authority: /pki/ca.crt}`, { ca: { path: '/pki/ca.crt' } }],
    [
      'inline data wins over a file',
      `{${S}, certificate-authority: f, certificate-authority-data: ${b64('PEM')}}`,
      { ca: { pem: 'PEM' } },
    ],
    ['no verification', `{${S}, insecure-skip-tls-verify: true}`, { insecure: true }],
    ['no verification as a YAML 1.1 boolean', `{${S}, insecure-skip-tls-verify: yes}`, { insecure: true }],
    ['another TLS server name', `{${S}, tls-server-name: n.example}`, { servername: 'n.example' }],
    ['a proxy', `{${S}, proxy-url: "socks5://127.0.0.1:1080"}`, { proxyUrl: 'socks5://127.0.0.1:1080' }],
  ])('%s', async (_name, cluster, expected) => {
    expect(await resolve(cluster)).toMatchObject(expected);
  });

  it.each<[string, string, string]>([
    ['no server', '{}', '/k/config: cluster "c": server: is missing'],
    [
      'a server that is not a URL',
      '{server: api}',
      '/k/config: cluster "c": server: "api" is not an http or https URL',
    ],
    ['a server with an unsupported scheme', '{server: "unix:///x"}', '/k/config: cluster "c": server: '],
    ['a server that is a map', '{server: {}}', '/k/config: cluster "c": server: must be a text, not a map'],
    [
      'a CA that is not base64',
      `{${S}, certificate-authority-data: "%%%"}`,
      '/k/config: cluster "c": certificate-authority-data: is not base64',
    ],
    [
      'a CA together with no verification',
      `{${S}, insecure-skip-tls-verify: true, certificate-authority: f}`,
      '/k/config: cluster "c": insecure-skip-tls-verify: and certificate-authority exclude each other',
    ],
    [
      'a flag that is not a boolean',
      `{${S}, insecure-skip-tls-verify: maybe}`,
      '/k/config: cluster "c": insecure-skip-tls-verify: must be true or false',
    ],
    [
      'a proxy with an unsupported scheme',
      `{${S}, proxy-url: "ftp://x"}`,
      '/k/config: cluster "c": proxy-url: "ftp://x" is not',
    ],
  ])('rejects %s', async (_name, cluster, message) => {
    await expect(resolve(cluster)).rejects.toThrow(message);
  });
});

describe('users', () => {
  it.each<[string, string, object]>([
    ['a token', '{token: abc}', { auth: { kind: 'token', token: 'abc' } }],
    [
      'a token file',
      '{tokenFile: t}',
      { auth: { kind: 'tokenFile', path: '/k/t', field: '/k/config: user "u": tokenFile' } },
    ],
    [
      'both: the token file, and the token while it cannot be read',
      '{token: abc, tokenFile: t}',
      { auth: { kind: 'tokenFile', path: '/k/t', fallback: 'abc' } },
    ],
    [
      'a password',
      '{username: me, password: "p:q"}',
      { auth: { kind: 'basic', username: 'me', password: 'p:q' } },
    ],
    [
      'a certificate',
      `{client-certificate-data: ${b64('C')}, client-key: key.pem}`,
      { cert: { pem: 'C' }, key: { path: '/k/key.pem' }, auth: { kind: 'none' } },
    ],
    [
      'an impersonated user',
      '{token: t, as: jane, as-uid: u1, as-groups: [a, b], as-user-extra: {scopes: [x]}}',
      { impersonate: { user: 'jane', uid: 'u1', groups: ['a', 'b'], extra: { scopes: ['x'] } } },
    ],
    [
      'a token wins over a plugin',
      '{token: t, exec: {apiVersion: client.authentication.k8s.io/v1, command: c, interactiveMode: Never}}',
      { auth: { kind: 'token' } },
    ],
  ])('%s', async (_name, user, expected) => {
    expect(await resolve(`{${S}}`, user)).toMatchObject(expected);
  });

  it.each<[string, string, string]>([
    ['a certificate without a key', '{client-certificate: c}', 'user "u": client-key: is missing'],
    ['a key without a certificate', '{client-key: c}', 'user "u": client-certificate: is missing'],
    [
      'a token and a password',
      '{token: a, username: b}',
      'user "u": username: username and token are mutually exclusive',
    ],
    ['impersonated groups without a user', '{as-groups: [a]}', 'user "u": as: is required'],
    ['groups that are a string', '{as: a, as-groups: b}', 'user "u": as-groups: must be a list, not a text'],
    [
      'extra that is a list',
      '{as: a, as-user-extra: [b]}',
      'user "u": as-user-extra: must be a map, not a list',
    ],
    [
      'extra values that are maps',
      '{as: a, as-user-extra: {b: [{}]}}',
      'user "u": as-user-extra.b[0]: must be a text, not a map',
    ],
    ['a legacy auth provider', '{auth-provider: {name: oidc}}', 'user "u": auth-provider: is not supported'],
    ['a token that is a list', '{token: [a]}', 'user "u": token: must be a text, not a list'],
  ])('rejects %s', async (_name, user, message) => {
    await expect(resolve(`{${S}}`, user)).rejects.toThrow(`/k/config: ${message}`);
  });

  it('sends no secrets over plain http', async () => {
    expect(await resolve('{server: "http://api"}', '{token: abc}')).toMatchObject({ auth: { kind: 'none' } });
  });
});

describe('contexts', () => {
  it.each<[string, string, Selection, object]>([
    ['its namespace', 'cluster: c, user: u, namespace: n', {}, { namespace: 'n' }],
    ['a selected namespace', 'cluster: c, user: u, namespace: n', { namespace: 'm' }, { namespace: 'm' }],
    ['no user', 'cluster: c', {}, { auth: { kind: 'none' } }],
    ['a selected user', 'cluster: c, user: nobody', { user: 'u' }, { auth: { kind: 'token' } }],
    [
      'selected impersonation',
      'cluster: c, user: u',
      { impersonate: { user: 'j' } },
      { impersonate: { user: 'j' } },
    ],
  ])('%s', async (_name, context, selection, expected) => {
    expect(await resolve(`{${S}}`, '{token: t}', context, selection)).toMatchObject(expected);
  });

  it.each<[string, string, Selection, string]>([
    [
      'a context that does not exist',
      'cluster: c',
      { context: 'y' },
      '/k/config: context "y" not found (available: "x")',
    ],
    ['a cluster that does not exist', 'cluster: d', {}, '/k/config: cluster "d" not found (available: "c")'],
    [
      'a user that does not exist',
      'cluster: c, user: v',
      {},
      '/k/config: user "v" not found (available: "u")',
    ],
    ['no cluster', 'user: u', {}, '/k/config: context "x": cluster: is missing'],
    ['a prototype name', 'cluster: constructor', {}, 'cluster "constructor" not found'],
  ])('rejects %s', async (_name, context, selection, message) => {
    await expect(resolve(`{${S}}`, '{}', context, selection)).rejects.toThrow(message);
  });

  it('without a current context the error lists the available ones; a selected cluster is enough', async () => {
    const none = parseKubeconfig(
      `contexts:\n- name: a\n  context: {}\n- name: b\n  context: {}\nclusters:\n- name: c\n  cluster: {${S}}\n`,
      '/k/config',
    );
    await expect(resolveContext(none)).rejects.toThrow(
      '/k/config: current-context: is not set; choose one with --context (available: "a", "b")',
    );
    expect(await resolveContext(none, { cluster: 'c' })).toMatchObject({
      server: 'https://api:6443',
      description: 'cluster "c" of /k/config',
    });
  });

  it('a broken entry that is not used causes no error', async () => {
    const text = `current-context: x\ncontexts:\n- name: x\n  context: {cluster: c}\n- name: y\n  context: {cluster: 5, user: []}\nclusters:\n- name: c\n  cluster: {${S}}\n- name: d\n  cluster: {server: []}\n`;
    expect(await resolveContext(parseKubeconfig(text, '/k/config'))).toMatchObject({
      server: 'https://api:6443',
    });
  });
});
